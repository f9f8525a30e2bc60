package io.tailrace.cli;

import static io.tailrace.cli.FormatComparison.COMPARED;
import static io.tailrace.cli.FormatComparison.MCAFEE;
import static io.tailrace.cli.FormatComparison.allFields;
import static io.tailrace.cli.FormatComparison.compare;
import static io.tailrace.cli.FormatComparison.fields;
import static io.tailrace.cli.RenderedEvents.PACK;
import static io.tailrace.cli.RenderedEvents.logins;
import static io.tailrace.cli.RenderedEvents.statements;
import static io.tailrace.cli.RenderedEvents.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.RuleStatements.Statement;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Verifies that a rule has the same meaning on every log: the same operations, in all formats, have the same values in
 * every field that rules use. A field that a format does not contain is absent, which {@link FormatComparison} lists
 * with the reason; it never has another value, except for the database of McAfee's plugin. The operations are a day of
 * work whose tables are stated independently of the parsers, and the statements that make the rules fire.
 */
class FormatParityTest {

    private static final List<DatabaseOperation> OPERATIONS = DayOfWork.operations();
    private static final String REFERENCE_FORMAT = "percona-audit-json";
    private static final List<DetectionEvent> REFERENCE = RenderedEvents.of(REFERENCE_FORMAT, OPERATIONS);

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

    /** Formats without logins. */
    private static final Set<String> STATEMENTS_ONLY = Set.of("mysql-slow");

    /** Formats without statements, and with refused logins only. */
    private static final Set<String> REFUSALS_ONLY = Set.of("mysql-error");

    /** Formats that state a login or its result in another event, the next command or a message: only {@link #login}
     * and {@link #ITS_PLACE} are compared. */
    private static final Set<String> LOGINS_IN_OTHER_EVENTS = Set.of("mysql-general", "mysql-error");

    private static final Set<DatabaseField> ITS_PLACE = Set.of(DatabaseField.DATABASE, DatabaseField.SRC_IP);

    /** Flags of statements whose end or begin in the log is not certain, so that formats may differ. */
    private static final Set<String> NOT_IN_EVERY_FORMAT =
            Set.of("truncated", "version_comment_ambiguous", "forged_header", "user_ambiguous");

    /** MariaDB's plugin cuts statements at 1,024 bytes. */
    private static final int MAX_LENGTH = 1000;

    /** ER_PARSE_ERROR: the quote at the end of such a statement may be open, so its end in the log is not certain. */
    private static final int SYNTAX_ERROR = 1064;

    private static final List<DatabaseOperation> OF_RULES = ofRules();
    private static final List<DetectionEvent> REFERENCE_OF_RULES = RenderedEvents.of(REFERENCE_FORMAT, OF_RULES);

    /** Returns the statements that every format can record, with the tables that the reference has. */
    private static List<DatabaseOperation> ofRules() {
        List<Statement> all = RuleStatements.of(PACK).stream()
                .filter(statement -> statement.text().length() < MAX_LENGTH && statement.status() != SYNTAX_ERROR)
                .toList();
        List<DetectionEvent> events = statements(RenderedEvents.of(REFERENCE_FORMAT, RuleStatements.operations(all)));
        assertThat(events).hasSameSizeAs(all);
        List<Statement> kept = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            DetectionEvent event = events.get(i);
            if (texts(event, DatabaseField.FLAG).stream().noneMatch(NOT_IN_EVERY_FORMAT::contains)) {
                kept.add(new Statement(
                        all.get(i).text(),
                        all.get(i).status(),
                        texts(event, DatabaseField.TABLE_READ),
                        texts(event, DatabaseField.TABLE_WRITTEN)));
            }
        }
        return RuleStatements.operations(kept);
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
        List<DetectionEvent> found = statements(RenderedEvents.of(format, OPERATIONS));
        List<DetectionEvent> expected = REFUSALS_ONLY.contains(format) ? List.of() : statements(REFERENCE);
        assertThat(found)
                .as("statements of %s of RenderedLog. Add a format without statements to REFUSALS_ONLY", format)
                .hasSameSizeAs(expected);
        compareStatements(format, expected, found);
    }

    @ParameterizedTest
    @MethodSource("formats")
    void statementsOfRulesAreTheSameInEveryFormat(String format) {
        List<DatabaseOperation> operations = OF_RULES.stream()
                .filter(operation -> !REFUSALS_ONLY.contains(format))
                .filter(operation -> !format.equals(MCAFEE) || isOneOfMcAfee(operation))
                .toList();
        List<DetectionEvent> expected = statements(RenderedEvents.of(REFERENCE_FORMAT, operations));
        List<DetectionEvent> found = statements(RenderedEvents.of(format, operations));
        assertThat(found).as("statements of %s", format).hasSameSizeAs(expected);
        compareStatements(format, expected, found);
    }

    /** In a general log, a statement may also be the login that it follows. */
    private static void compareStatements(String format, List<DetectionEvent> expected, List<DetectionEvent> found) {
        List<Map<DatabaseField, String>> read = allFields(found);
        read.forEach(fields -> fields.remove(DatabaseField.LOGIN));
        compare(format, COMPARED, allFields(expected), read);
    }

    /** McAfee's plugin does not state how objects are used: a SELECT reads all, others write the first. */
    private static boolean isOneOfMcAfee(DatabaseOperation operation) {
        String text = operation.statement() == null ? "" : operation.statement();
        return Pattern.compile("(?i)^(select|show)").matcher(text).find()
                ? operation.writes().isEmpty()
                : operation.writes().size() == 1
                        || operation.reads().isEmpty() && operation.writes().isEmpty();
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
        List<DetectionEvent> found = logins(RenderedEvents.of(format, OPERATIONS));
        assertThat(found.stream().map(FormatParityTest::login).sorted())
                .as(
                        "logins of %s. The parser must give them the class connection and a command that"
                                + " LoginClassifier lists. Add a format without logins to STATEMENTS_ONLY, one with"
                                + " refused logins only to REFUSALS_ONLY, and one that states a login in another event, such"
                                + " as the next command, to LOGINS_IN_OTHER_EVENTS",
                        format)
                .containsExactlyElementsOf(
                        expected.stream().map(FormatParityTest::login).sorted().toList());
        if (LOGINS_IN_OTHER_EVENTS.contains(format)) {
            compare(format, ITS_PLACE, allFields(sorted(expected)), allFields(sorted(found)));
        } else {
            compare(format, COMPARED, allFields(expected), allFields(found));
        }
    }

    @Test
    void everyFieldThatRulesUseIsComparedOrExcused() throws IOException {
        Set<DatabaseField> used = usedByRules();
        used.removeAll(COMPARED);
        used.removeAll(OF_ONE_LOG.keySet());
        assertThat(used)
                .as("fields that rules use: add them to COMPARED or, with the reason, to OF_ONE_LOG")
                .isEmpty();
    }

    @Test
    void theOperationsHaveTheValuesThatRulesLookFor() throws IOException {
        List<DetectionEvent> events =
                Stream.concat(REFERENCE.stream(), REFERENCE_OF_RULES.stream()).toList();
        for (DatabaseField field : usedByRules()) {
            if (COMPARED.contains(field) && field != DatabaseField.INSTANCE) {
                assertThat(valuesOf(field, events)).as("%s", field).hasSizeGreaterThan(1);
            }
        }
        for (DatabaseField field : List.of(DatabaseField.VERB, DatabaseField.FLAG)) {
            Set<String> missing = valuesInRules(field);
            missing.removeAll(valuesOf(field, events));
            missing.removeAll(NOT_IN_EVERY_FORMAT);
            assertThat(missing)
                    .as("%s in rules, but in no statement: add one to a rule's fires.log or to RuleStatements", field)
                    .isEmpty();
        }
    }

    private static Set<String> valuesOf(DatabaseField field, List<DetectionEvent> events) {
        return events.stream().flatMap(event -> texts(event, field).stream()).collect(Collectors.toSet());
    }

    private static Set<DatabaseField> usedByRules() throws IOException {
        Set<DatabaseField> used = new TreeSet<>();
        for (String rule : rules()) {
            Matcher keys = Pattern.compile("(?m)^ +-? *([a-z_]+)(\\|[a-z|]+)?:").matcher(rule);
            while (keys.find()) {
                Stream.of(DatabaseField.values())
                        .filter(field -> field.fieldName().equals(keys.group(1)))
                        .forEach(used::add);
            }
        }
        return used;
    }

    /** Returns the values with which rules compare a field exactly: one in a line, or a list in brackets. */
    private static Set<String> valuesInRules(DatabaseField field) throws IOException {
        Pattern key = Pattern.compile("(?m)^ +-? *" + field.fieldName() + ": \\[?([^\\]\n]+)\\]?$");
        Set<String> values = new TreeSet<>();
        for (String rule : rules()) {
            Matcher lines = key.matcher(rule);
            while (lines.find()) {
                values.addAll(List.of(lines.group(1).split(", ")));
            }
        }
        return values;
    }

    private static List<String> rules() throws IOException {
        List<String> rules = new ArrayList<>();
        try (Stream<Path> files = Files.walk(PACK)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".yml")).toList()) {
                rules.add(Files.readString(file));
            }
        }
        return rules;
    }

    private static List<DetectionEvent> sorted(List<DetectionEvent> logins) {
        return logins.stream()
                .sorted(Comparator.comparing(FormatParityTest::login))
                .toList();
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
}
