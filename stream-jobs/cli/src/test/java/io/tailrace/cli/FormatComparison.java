package io.tailrace.cli;

import static io.tailrace.cli.RenderedEvents.texts;

import io.tailrace.client.ClientAddress;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.assertj.core.api.SoftAssertions;

/** Compares the fields of events of the same operations in two formats. */
final class FormatComparison {

    /** The compared fields of statements and logins. */
    static final Set<DatabaseField> COMPARED = Set.of(
            DatabaseField.INSTANCE,
            DatabaseField.EVENT_CLASS,
            DatabaseField.LOGIN,
            DatabaseField.OUTCOME,
            DatabaseField.ERROR_CODE,
            DatabaseField.USER,
            DatabaseField.HOST,
            DatabaseField.SRC_IP,
            DatabaseField.CONNECTION_ID,
            DatabaseField.DATABASE,
            DatabaseField.TABLE,
            DatabaseField.TABLE_READ,
            DatabaseField.TABLE_WRITTEN,
            DatabaseField.DATA_CLASS,
            DatabaseField.DATA_CLASS_READ,
            DatabaseField.DATA_CLASS_WRITTEN,
            DatabaseField.DATA_ACCESS,
            DatabaseField.TARGET_ACCOUNT,
            DatabaseField.TARGET_USER,
            DatabaseField.VERB,
            DatabaseField.STATEMENT,
            DatabaseField.QUERY_ID,
            DatabaseField.FLAG);

    /** The format whose log names objects, but no default database. */
    static final String MCAFEE = "mcafee-audit-json";

    private static final String TABLES_INCOMPLETE = "tables_incomplete";

    /**
     * A field that a format does not contain, or not in the same way, with the reason.
     *
     * @param permits tests a value that differs from that of the reference, whose fields are the second argument
     */
    private record Difference(
            String format,
            DatabaseField field,
            String reason,
            BiPredicate<String, Map<DatabaseField, String>> permits) {

        /** A field that is absent if the fields of the reference fulfil a condition. */
        static Difference absent(
                String format, DatabaseField field, String reason, Predicate<Map<DatabaseField, String>> when) {
            return new Difference(
                    format,
                    field,
                    reason,
                    (value, expected) -> (value.isEmpty() || value.equals("unknown")) && when.test(expected));
        }
    }

    private static final List<Difference> DIFFERENCES = List.of(
            addressOfNamedClient("mariadb-audit"),
            addressOfNamedClient("mariadb-audit-syslog"),
            addressOfNamedClient("aurora-audit"),
            addressOfNamedClient("mysql-general"),
            addressOfNamedClient("mysql-error"),
            withoutResult("mysql-general", DatabaseField.OUTCOME, "a command is written before it runs"),
            withoutResult("mysql-general", DatabaseField.ERROR_CODE, "a command is written before it runs"),
            withoutResult("mysql-slow", DatabaseField.OUTCOME, "MySQL and MariaDB write none, Percona does"),
            withoutResult("mysql-slow", DatabaseField.ERROR_CODE, "MySQL and MariaDB write none, Percona does"),
            databaseOfRefusal("mysql-general"),
            databaseOfRefusal("mysql-error"),
            new Difference(
                    MCAFEE,
                    DatabaseField.DATABASE,
                    "of a login none, of a statement that of its first object",
                    (value, expected) -> value.equals(firstDatabase(expected))),
            new Difference(
                    MCAFEE,
                    DatabaseField.FLAG,
                    "the objects are complete",
                    (value, expected) -> value.isEmpty() && isCompletedByObjects(expected)),
            new Difference(
                    MCAFEE,
                    DatabaseField.DATA_ACCESS,
                    "the objects are complete",
                    (value, expected) -> value.equals("known") && isCompletedByObjects(expected)));

    /** Flags that concern the log, not the operation. */
    private static final Set<String> DOUBTS =
            Set.of("status_unknown", "database_inherited", "logged_in", "year_inferred");

    private FormatComparison() {}

    private static Difference addressOfNamedClient(String format) {
        return Difference.absent(
                format,
                DatabaseField.SRC_IP,
                "one field for the client: its name where the server knows it",
                expected -> ClientAddress.of(expected.getOrDefault(DatabaseField.HOST, ""), "")
                        .address()
                        .isEmpty());
    }

    private static Difference withoutResult(String format, DatabaseField field, String reason) {
        return Difference.absent(format, field, reason, expected -> true);
    }

    private static Difference databaseOfRefusal(String format) {
        return Difference.absent(format, DatabaseField.DATABASE, "a refusal names no database", expected -> "failure"
                .equals(expected.get(DatabaseField.LOGIN)));
    }

    private static boolean isCompletedByObjects(Map<DatabaseField, String> expected) {
        return TABLES_INCOMPLETE.equals(expected.get(DatabaseField.FLAG))
                && !firstDatabase(expected).isEmpty();
    }

    /** Reports every field that differs, each with the first of the events in which it does. */
    static void compare(
            String format,
            Collection<DatabaseField> compared,
            List<Map<DatabaseField, String>> expected,
            List<Map<DatabaseField, String>> found) {
        SoftAssertions softly = new SoftAssertions();
        for (DatabaseField field : new TreeSet<>(compared)) {
            List<Integer> different = IntStream.range(0, expected.size())
                    .filter(i -> isDifferent(format, field, expected.get(i), found.get(i)))
                    .boxed()
                    .toList();
            if (!different.isEmpty()) {
                int first = different.get(0);
                softly.assertThat(found.get(first).getOrDefault(field, ""))
                        .as(
                                "%s %s of %s, the first of %d events in which it differs. If the format does not contain the"
                                        + " field, add it to DIFFERENCES; if it does, correct its parser or its writer in"
                                        + " RenderedLog",
                                format, field, expected.get(first), different.size())
                        .isEqualTo(expected.get(first).getOrDefault(field, ""));
            }
        }
        softly.assertAll();
    }

    private static boolean isDifferent(
            String format, DatabaseField field, Map<DatabaseField, String> expected, Map<DatabaseField, String> found) {
        String value = found.getOrDefault(field, "");
        return !value.equals(expected.getOrDefault(field, ""))
                && DIFFERENCES.stream()
                        .filter(each -> each.format().equals(format) && each.field() == field)
                        .noneMatch(each -> each.permits().test(value, expected));
    }

    /** Returns the database of the first object of a statement: of the first written table, or else of the first read. */
    private static String firstDatabase(Map<DatabaseField, String> fields) {
        String written = fields.getOrDefault(DatabaseField.TABLE_WRITTEN, "");
        String tables = written.isEmpty() ? fields.getOrDefault(DatabaseField.TABLE_READ, "") : written;
        return tables.substring(0, Math.max(0, tables.indexOf('.')));
    }

    static List<Map<DatabaseField, String>> allFields(List<DetectionEvent> events) {
        return events.stream().map(FormatComparison::fields).toList();
    }

    /** Returns the compared fields that an event has, different values with commas: rules test them as a set. */
    static Map<DatabaseField, String> fields(DetectionEvent event) {
        Map<DatabaseField, String> fields = new EnumMap<>(DatabaseField.class);
        for (DatabaseField field : COMPARED) {
            Set<String> values = new LinkedHashSet<>(texts(event, field));
            values.removeAll(DOUBTS);
            if (!values.isEmpty()) {
                fields.put(field, String.join(",", values));
            }
        }
        return fields;
    }
}
