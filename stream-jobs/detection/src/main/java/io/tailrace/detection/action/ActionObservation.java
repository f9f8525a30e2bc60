package io.tailrace.detection.action;

import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.match.CidrMatcher;
import io.tailrace.detection.taxonomy.LoginClassifier;
import io.tailrace.flag.EventFlag;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The attributes of one event by which its action is recognized in other logs.
 *
 * @param session key of the state to search: instance and connection, or instance and user for refused logins, because
 *     not every log contains their connection
 * @param candidateAction the action if no other event belongs to it
 * @param kind kind of the operation; two events of different kinds are two actions. 0: unknown, as for a row of a table
 * @param serverQuery the server's number of the statement; 0: unknown
 * @param source see {@link RecordSource}
 * @param verb hash of the statement's operation
 * @param truncated the log truncated the statement, so its kind is that of another text
 * @param tables one bit per table, see {@link TextHash#tableBit}
 * @param minimumDurationMicros lower bound of the action's duration in microseconds: a log writes the time of its start
 *     or of its end
 */
public record ActionObservation(
        String session,
        ActionReference candidateAction,
        long kind,
        long serverQuery,
        int source,
        int verb,
        boolean truncated,
        long tables,
        long minimumDurationMicros,
        LoginOrigin origin) {

    private static final String SEPARATOR = "\u001f";
    private static final long LOGIN = TextHash.of("login");
    private static final long CHANGE_OF_USER = TextHash.of("change of user");
    private static final long REFUSED_LOGIN = TextHash.of("refused login");
    private static final long PREPARED = TextHash.of("prepare");
    private static final double MICROS = 1e6;
    private static final double MAX_SECONDS = 7 * 86_400;

    /** Returns the attributes of an event; empty if no other log can record the same action. */
    public static Optional<ActionObservation> of(DetectionEvent event) {
        String eventClass = text(event, DatabaseField.EVENT_CLASS);
        boolean ofErrorLog = "errorlog".equals(event.source().service());
        if (ofErrorLog) {
            boolean refused = "access_denied".equals(text(event, DatabaseField.KIND));
            return refused ? Optional.of(refusedLogin(event)) : Optional.empty();
        }
        return switch (eventClass) {
            case "connection" -> login(event);
            case "query" -> statement(event);
            case "table" -> row(event);
            default -> Optional.empty();
        };
    }

    private static Optional<ActionObservation> login(DetectionEvent event) {
        String command = text(event, DatabaseField.COMMAND);
        if (!LoginClassifier.isLogin("connection", command, text(event, DatabaseField.EVENT_NAME))) {
            return Optional.empty();
        }
        if ("failure".equals(text(event, DatabaseField.OUTCOME))) {
            return Optional.of(refusedLogin(event));
        }
        return ofConnection(event, LoginClassifier.changesUser(command) ? CHANGE_OF_USER : LOGIN, source(event), 0);
    }

    private static ActionObservation refusedLogin(DetectionEvent event) {
        String session = text(event, DatabaseField.INSTANCE)
                + SEPARATOR
                + "login"
                + SEPARATOR
                + text(event, DatabaseField.USER).toLowerCase(Locale.ROOT);
        String host = text(event, DatabaseField.HOST);
        String address = text(event, DatabaseField.SRC_IP);
        boolean named = !host.isEmpty() && CidrMatcher.of(host).isEmpty();
        LoginOrigin origin = new LoginOrigin(
                number(event, DatabaseField.CONNECTION_ID),
                address.isEmpty() ? 0 : TextHash.of(address),
                named ? TextHash.of(host) : 0);
        return new ActionObservation(
                session, candidateAction(event), REFUSED_LOGIN, 0, source(event), 0, false, 0, 0, origin);
    }

    private static Optional<ActionObservation> statement(DetectionEvent event) {
        String queryId = text(event, DatabaseField.QUERY_ID);
        if (queryId.isEmpty()) {
            return Optional.empty();
        }
        boolean prepared = "prepare".equalsIgnoreCase(text(event, DatabaseField.COMMAND));
        long kind = Long.parseUnsignedLong(queryId, 16) ^ (prepared ? PREPARED : 0);
        return ofConnection(event, kind == 0 ? 1 : kind, source(event), minimumDuration(event));
    }

    private static Optional<ActionObservation> row(DetectionEvent event) {
        String queryId = text(event, DatabaseField.QUERY_ID);
        long kind = queryId.isEmpty() ? 0 : Long.parseUnsignedLong(queryId, 16);
        return ofConnection(event, kind, RecordSource.ROW, 0);
    }

    private static Optional<ActionObservation> ofConnection(
            DetectionEvent event, long kind, int source, long minimumDuration) {
        String connection = text(event, DatabaseField.CONNECTION_ID);
        if (connection.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new ActionObservation(
                text(event, DatabaseField.INSTANCE) + SEPARATOR + connection,
                candidateAction(event),
                kind,
                number(event, DatabaseField.SERVER_QUERY_ID),
                source,
                text(event, DatabaseField.VERB).hashCode(),
                isTruncated(event),
                tables(event),
                minimumDuration,
                LoginOrigin.UNKNOWN));
    }

    private static ActionReference candidateAction(DetectionEvent event) {
        return new ActionReference(event.id(), event.micros(), event.order());
    }

    private static int source(DetectionEvent event) {
        return RecordSource.of(event.source().service(), text(event, DatabaseField.EVENT_NAME));
    }

    /** A clock that was set back produces meaningless times; no statement is awaited for longer than a week. */
    private static long minimumDuration(DetectionEvent event) {
        List<FieldValue> seconds = event.values(DatabaseField.QUERY_TIME.fieldName());
        return seconds.isEmpty() ? 0 : (long) (Math.min(seconds.get(0).number(), MAX_SECONDS) * MICROS);
    }

    private static long tables(DetectionEvent event) {
        long bits = 0;
        for (FieldValue table : event.values(DatabaseField.TABLE.fieldName())) {
            bits |= TextHash.tableBit(table.text());
        }
        return bits;
    }

    private static boolean isTruncated(DetectionEvent event) {
        List<FieldValue> flags = event.values(DatabaseField.FLAG.fieldName());
        for (int i = 0; i < flags.size(); i++) {
            if (flags.get(i).text().equals(EventFlag.TRUNCATED.wireName())) {
                return true;
            }
        }
        return false;
    }

    private static String text(DetectionEvent event, DatabaseField field) {
        List<FieldValue> values = event.values(field.fieldName());
        return values.isEmpty() ? "" : values.get(0).text();
    }

    private static long number(DetectionEvent event, DatabaseField field) {
        String digits = text(event, field);
        return digits.isEmpty() ? 0 : Long.parseLong(digits);
    }

    boolean isRow() {
        return source == RecordSource.ROW;
    }

    boolean isBeginning() {
        return (source & RecordSource.AT_START) != 0;
    }
}
