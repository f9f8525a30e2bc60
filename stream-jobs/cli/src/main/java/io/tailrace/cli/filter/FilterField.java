package io.tailrace.cli.filter;

import io.tailrace.event.QueryEvent;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

/** A property of a statement that a filter can compare: a number, or one or several texts. */
final class FilterField {

    /** The fields in the order of their documentation. */
    static final String NAMES =
            "user, host, ip, db, table, tag.KEY, trace_id, verb, statement, query_id, flag, format, query_time, lock_time,"
                    + " rows_sent, rows_examined, rows_affected, bytes_sent, error, connection, weight or header.NAME";

    private static final String HEADER = "header.";
    private static final String TAG = "tag.";

    private final Function<QueryEvent, Number> number;
    private final BiFunction<QueryEvent, String, List<String>> texts;
    private final boolean seconds;

    private FilterField(
            Function<QueryEvent, Number> number, BiFunction<QueryEvent, String, List<String>> texts, boolean seconds) {
        this.number = number;
        this.texts = texts;
        this.seconds = seconds;
    }

    /** Returns the field with this name. */
    static Optional<FilterField> named(String name) {
        if (name.startsWith(HEADER) && name.length() > HEADER.length()) {
            String key = name.substring(HEADER.length());
            return Optional.of(text(event -> event.getAttributes().getOrDefault(key, "")));
        }
        if (name.startsWith(TAG) && name.length() > TAG.length()) {
            String key = name.substring(TAG.length());
            return Optional.of(text(event -> event.getTags().getOrDefault(key, "")));
        }
        return Optional.ofNullable(
                switch (name) {
                    case "user" -> text(QueryEvent::getUser);
                    case "host" -> text(event -> event.getHost().isEmpty() ? event.getIp() : event.getHost());
                    case "ip" -> text(QueryEvent::getIp);
                    case "db", "database" -> text(QueryEvent::getDatabase);
                    case "table" -> new FilterField(null, (event, fingerprint) -> tables(event), false);
                    case "trace_id" -> text(QueryEvent::getTraceId);
                    case "verb" -> text(QueryEvent::getVerb);
                    case "statement" -> new FilterField(null, (event, fingerprint) -> List.of(fingerprint), false);
                    case "query_id" -> text(event -> String.format("%016X", event.getQueryId()));
                    case "format" -> text(QueryEvent::getFormat);
                    case "flag" -> new FilterField(null, (event, fingerprint) -> event.getPlanFlags(), false);
                    case "query_time" -> new FilterField(QueryEvent::getQueryTime, null, true);
                    case "lock_time" -> new FilterField(QueryEvent::getLockTime, null, true);
                    case "rows_sent" -> number(QueryEvent::getRowsSent);
                    case "rows_examined" -> number(QueryEvent::getRowsExamined);
                    case "rows_affected" -> number(QueryEvent::getRowsAffected);
                    case "bytes_sent" -> number(QueryEvent::getBytesSent);
                    case "error" -> number(QueryEvent::getErrorCode);
                    case "connection" -> number(QueryEvent::getConnectionId);
                    case "weight" -> number(QueryEvent::getWeight);
                    default -> null;
                });
    }

    /** Returns each table as the statement names it, and with the default database. */
    private static List<String> tables(QueryEvent event) {
        return Stream.of(event.getTablesRead(), event.getTablesWritten())
                .flatMap(List::stream)
                .flatMap(name -> Stream.of(name, event.getDatabase() + '.' + name))
                .toList();
    }

    private static FilterField text(Function<QueryEvent, String> text) {
        return new FilterField(null, (event, fingerprint) -> List.of(text.apply(event)), false);
    }

    private static FilterField number(Function<QueryEvent, Number> number) {
        return new FilterField(number, null, false);
    }

    boolean isNumber() {
        return number != null;
    }

    /** Returns whether its values may have a unit of time. */
    boolean isTime() {
        return seconds;
    }

    /** Returns its number; 0 if the log does not contain it. */
    double number(QueryEvent event) {
        Number value = number.apply(event);
        return value == null ? 0 : value.doubleValue();
    }

    List<String> texts(QueryEvent event, String fingerprint) {
        return texts.apply(event, fingerprint);
    }
}
