package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.LogReader;
import io.tailrace.detection.dataclass.DataClassReader;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.sigma.BundleFiles;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Verifies that a rule has the same meaning on every log: the same operations, in all formats, have the same values in
 * every field that rules use. A field that a format does not contain is absent, which {@link #NOT_WRITTEN} lists with
 * the reason; it never has another value, except for the database of McAfee's plugin.
 */
class FormatParityTest {

    private static final Path PACK = Path.of("../../rules");
    private static final List<DatabaseOperation> OPERATIONS = DayOfWork.operations();
    private static final DataClassifier CLASSIFIER = classifier();
    private static final List<DetectionEvent> REFERENCE = events("percona-audit-json");

    /** The compared fields of statements and logins. */
    private static final Set<DatabaseField> COMPARED = Set.of(
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

    /** Fields that rules use and that are not compared, with the reason. */
    private static final Map<DatabaseField, String> OF_ONE_LOG = Map.ofEntries(
            Map.entry(DatabaseField.COMMAND, "as the server names it"),
            Map.entry(DatabaseField.COMMAND_CLASS, "the server's own classes, of audit logs"),
            Map.entry(DatabaseField.CONNECTION_TYPE, "written by some with the login only"),
            Map.entry(DatabaseField.PROGRAM, "reported by the client, in some audit logs"),
            Map.entry(DatabaseField.KIND, "messages of error logs"),
            Map.entry(DatabaseField.MESSAGE, "messages of error logs"),
            Map.entry(DatabaseField.ROWS_SENT, "measured by slow logs"),
            Map.entry(DatabaseField.ROWS_EXAMINED, "measured by slow logs"),
            Map.entry(DatabaseField.ROWS_AFFECTED, "measured by slow logs"),
            Map.entry(DatabaseField.BYTES_SENT, "measured by slow logs"),
            Map.entry(DatabaseField.TIMESTAMP, "to the second or finer"));

    /** A field that a format does not contain, with the reason. */
    private record NotWritten(String format, DatabaseField field, String reason) {}

    private static final String ONE_FIELD = "one field for the client: its name where the server knows it";
    private static final List<NotWritten> NOT_WRITTEN = List.of(
            new NotWritten("mariadb-audit", DatabaseField.SRC_IP, ONE_FIELD),
            new NotWritten("mariadb-audit-syslog", DatabaseField.SRC_IP, ONE_FIELD),
            new NotWritten("aurora-audit", DatabaseField.SRC_IP, ONE_FIELD),
            new NotWritten("mysql-general", DatabaseField.SRC_IP, ONE_FIELD),
            new NotWritten("mysql-error", DatabaseField.SRC_IP, ONE_FIELD),
            new NotWritten("mysql-general", DatabaseField.OUTCOME, "a command is written before it runs"),
            new NotWritten("mysql-general", DatabaseField.ERROR_CODE, "a command is written before it runs"),
            new NotWritten("mysql-general", DatabaseField.DATABASE, "a refusal names no database"),
            new NotWritten("mysql-slow", DatabaseField.OUTCOME, "MySQL and MariaDB write no outcome, Percona does"),
            new NotWritten("mysql-slow", DatabaseField.ERROR_CODE, "MySQL and MariaDB write no outcome, Percona does"),
            new NotWritten("mysql-error", DatabaseField.DATABASE, "a refusal names no database"),
            new NotWritten(
                    "mcafee-audit-json",
                    DatabaseField.DATABASE,
                    "of a login none, of a statement that of its first object"));

    /** Formats without logins. */
    private static final Set<String> STATEMENTS_ONLY = Set.of("mysql-slow");

    /** Formats without statements, and with refused logins only. */
    private static final Set<String> REFUSALS_ONLY = Set.of("mysql-error");

    /** Formats that state a login in another event, the next command or a message: only {@link #login} is compared. */
    private static final Set<String> LOGINS_IN_OTHER_EVENTS = Set.of("mysql-general", "mysql-error");

    /** Flags that concern the log, not the operation. */
    private static final Set<String> DOUBTS =
            Set.of("status_unknown", "database_inherited", "logged_in", "year_inferred");

    private static DataClassifier classifier() {
        try {
            Path file = PACK.resolve(BundleFiles.DATA_CLASSES);
            return new DataClassifier(DataClassReader.read(file.toString(), Files.readString(file), error -> {
                throw new AssertionError(error.toString());
            }));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<DetectionEvent> events(String name) {
        LogFormat format = new FormatRegistry().named(name).orElseThrow();
        String source = FormatRegistry.sourceOf(format);
        LogOrigin origin = new LogOrigin("", "db1", source, name, "UTC", name);
        byte[] log = RenderedLog.of(RenderedLog.writers().get(name), OPERATIONS).getBytes(StandardCharsets.UTF_8);
        List<DetectionEvent> events = new ArrayList<>();
        try {
            new LogReader(log, new ByteArrayInputStream(new byte[0]), format, origin, new Sink(events)).read(1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return events;
    }

    private record Sink(List<DetectionEvent> events) implements DetectionEventHandler {

        @Override
        public void event(DetectionEvent event) {
            CLASSIFIER.enrich(event);
            events.add(event);
        }

        @Override
        public void deadLetter(Refusal refusal) {
            throw new AssertionError(refusal.code() + ": " + refusal.message());
        }
    }

    static Stream<String> formats() {
        return RenderedLog.writers().keySet().stream();
    }

    @Test
    void everyFormatIsRendered() {
        assertThat(formats())
                .as("formats that RenderedLog.writers() writes: add a new one")
                .containsExactlyInAnyOrderElementsOf(
                        new FormatRegistry().all().stream().map(LogFormat::name).toList());
    }

    @Test
    void theReferenceContainsEveryField() {
        List<DetectionEvent> statements = statements(REFERENCE);
        List<DatabaseOperation> done = OPERATIONS.stream()
                .filter(operation -> operation.statement() != null)
                .toList();
        assertThat(statements).hasSize(DayOfWork.STATEMENTS).hasSameSizeAs(done);
        for (int i = 0; i < done.size(); i++) {
            DatabaseOperation operation = done.get(i);
            Map<DatabaseField, String> found = fields(statements.get(i));
            assertThat(texts(statements.get(i), DatabaseField.TABLE_WRITTEN))
                    .as(operation.toString())
                    .isEqualTo(operation.writes());
            assertThat(texts(statements.get(i), DatabaseField.TABLE_READ))
                    .as(operation.toString())
                    .isEqualTo(operation.reads());
            isOf(operation, found);
        }
        List<DatabaseOperation> logins =
                OPERATIONS.stream().filter(DatabaseOperation::isLogin).toList();
        assertThat(logins(REFERENCE)).hasSameSizeAs(logins);
        for (int i = 0; i < logins.size(); i++) {
            Map<DatabaseField, String> found = fields(logins(REFERENCE).get(i));
            isOf(logins.get(i), found);
            assertThat(found).containsEntry(DatabaseField.LOGIN, logins.get(i).failed() ? "failure" : "success");
        }
    }

    private static void isOf(DatabaseOperation operation, Map<DatabaseField, String> found) {
        assertThat(found)
                .as(operation.toString())
                .containsEntry(DatabaseField.USER, operation.account().user())
                .containsEntry(DatabaseField.HOST, operation.account().from())
                .containsEntry(DatabaseField.CONNECTION_ID, "" + operation.connection())
                .containsEntry(DatabaseField.OUTCOME, operation.failed() ? "failure" : "success");
        assertThat(found.getOrDefault(DatabaseField.SRC_IP, ""))
                .isEqualTo(operation.account().address());
        assertThat(found.getOrDefault(DatabaseField.DATABASE, "")).isEqualTo(operation.database());
    }

    @ParameterizedTest
    @MethodSource("formats")
    void statementsAreTheSameInEveryFormat(String format) {
        List<DetectionEvent> found = statements(events(format));
        List<DetectionEvent> expected = REFUSALS_ONLY.contains(format) ? List.of() : statements(REFERENCE);
        assertThat(found)
                .as("statements of %s of RenderedLog. Add a format without statements to REFUSALS_ONLY", format)
                .hasSameSizeAs(expected);
        List<Map<DatabaseField, String>> read = allFields(found);
        read.forEach(fields -> fields.remove(DatabaseField.LOGIN));
        compare(format, allFields(expected), read);
    }

    /** In a general log, the first command after a login shows that it succeeded, and is also a separate event. */
    @ParameterizedTest
    @MethodSource("formats")
    void loginsAreTheSameInEveryFormat(String format) {
        List<DetectionEvent> expected = logins(REFERENCE);
        if (REFUSALS_ONLY.contains(format)) {
            expected = expected.stream().filter(FormatParityTest::isRefused).toList();
        } else if (STATEMENTS_ONLY.contains(format)) {
            expected = List.of();
        }
        List<DetectionEvent> found = logins(events(format));
        assertThat(found.stream().map(FormatParityTest::login).sorted())
                .as(
                        "logins of %s. The parser must give them the class connection and a command that"
                                + " LoginClassifier lists. Add a format without logins to STATEMENTS_ONLY, one with"
                                + " refused logins only to REFUSALS_ONLY",
                        format)
                .containsExactlyElementsOf(
                        expected.stream().map(FormatParityTest::login).sorted().toList());
        if (!LOGINS_IN_OTHER_EVENTS.contains(format)) {
            compare(format, allFields(expected), allFields(found));
        }
    }

    @Test
    void everyFieldThatRulesUseIsComparedOrExcused() throws IOException {
        Set<DatabaseField> used = new TreeSet<>();
        try (Stream<Path> files = Files.walk(PACK)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".yml")).toList()) {
                Matcher keys =
                        Pattern.compile("(?m)^ +-? *([a-z_]+)(\\|[a-z|]+)?:").matcher(Files.readString(file));
                while (keys.find()) {
                    Stream.of(DatabaseField.values())
                            .filter(field -> field.fieldName().equals(keys.group(1)))
                            .forEach(used::add);
                }
            }
        }
        used.removeAll(COMPARED);
        used.removeAll(OF_ONE_LOG.keySet());
        assertThat(used)
                .as("fields that rules use: add them to COMPARED or, with the reason, to OF_ONE_LOG")
                .isEmpty();
    }

    private static boolean isRefused(DetectionEvent event) {
        return texts(event, DatabaseField.LOGIN).contains("failure");
    }

    /** Returns user, client and result. */
    private static String login(DetectionEvent event) {
        return Stream.of(DatabaseField.LOGIN, DatabaseField.USER, DatabaseField.HOST, DatabaseField.CONNECTION_ID)
                .map(field -> String.join(",", texts(event, field)))
                .collect(Collectors.joining(" "));
    }

    /** Reports every field that differs, each with the first of the events in which it does. */
    private static void compare(
            String format, List<Map<DatabaseField, String>> expected, List<Map<DatabaseField, String>> found) {
        SoftAssertions softly = new SoftAssertions();
        for (DatabaseField field : new TreeSet<>(COMPARED)) {
            List<Integer> different = IntStream.range(0, expected.size())
                    .filter(i -> isDifferent(format, field, expected.get(i), found.get(i)))
                    .boxed()
                    .toList();
            if (!different.isEmpty()) {
                int first = different.get(0);
                softly.assertThat(found.get(first).getOrDefault(field, ""))
                        .as(
                                "%s %s of %s, the first of %d events in which it differs. If the format does not contain the"
                                        + " field, add it to NOT_WRITTEN; if it does, correct its parser or its writer in"
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
        boolean missing = value.isEmpty() || value.equals("unknown");
        boolean guessed = format.equals("mcafee-audit-json") && field == DatabaseField.DATABASE;
        return !guessed && !(missing && isNotWritten(format, field)) && !value.equals(expected.getOrDefault(field, ""));
    }

    private static boolean isNotWritten(String format, DatabaseField field) {
        return NOT_WRITTEN.stream()
                .anyMatch(each -> each.format().equals(format)
                        && each.field() == field
                        && !each.reason().isEmpty());
    }

    private static List<DetectionEvent> statements(List<DetectionEvent> events) {
        return events.stream()
                .filter(event -> texts(event, DatabaseField.EVENT_CLASS).contains("query"))
                .toList();
    }

    private static List<DetectionEvent> logins(List<DetectionEvent> events) {
        return events.stream()
                .filter(event -> !texts(event, DatabaseField.LOGIN).isEmpty()
                        && !texts(event, DatabaseField.LOGIN).contains("unknown"))
                .toList();
    }

    private static List<Map<DatabaseField, String>> allFields(List<DetectionEvent> events) {
        return events.stream().map(FormatParityTest::fields).toList();
    }

    private static Map<DatabaseField, String> fields(DetectionEvent event) {
        Map<DatabaseField, String> fields = new EnumMap<>(DatabaseField.class);
        for (DatabaseField field : COMPARED) {
            List<String> values = new ArrayList<>(texts(event, field));
            values.removeAll(DOUBTS);
            if (!values.isEmpty()) {
                fields.put(field, String.join(",", values));
            }
        }
        return fields;
    }

    private static List<String> texts(DetectionEvent event, DatabaseField field) {
        return event.values(field.fieldName()).stream().map(FieldValue::text).toList();
    }
}
