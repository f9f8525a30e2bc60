package io.tailrace.detection.correlation;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which records of an action an alert names. MariaDB's server_audit writes the rows of tables (READ, WRITE) before their
 * statement (QUERY), so the first record of an action is that of a row.
 */
class NamedRecordsTest {

    private static final long SECOND = 1_000_000;
    private static final String RULES = named("read", "a: read") + named("write", "a: write");
    private static final String COUNT =
            "type: event_count\nrules: read\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 3}";

    private final ActionResolver actions = new ActionResolver(100);
    private final List<RaisedAlert> alerts = new ArrayList<>();
    private InMemoryCorrelationEngine engine;

    @BeforeEach
    void countActions() {
        start(COUNT);
    }

    @Test
    void aStatementIsNamedIfOnlyItMatches() {
        for (int second = 1; second <= 3; second++) {
            row(second).action();
            engine.match("read", statement(second), alerts::add);
        }

        assertNames("query1", "query2", "query3");
    }

    @Test
    void aStatementIsNamedInsteadOfItsRowThatMatchedBefore() {
        for (int second = 1; second <= 2; second++) {
            engine.match("read", row(second), alerts::add);
            engine.match("read", statement(second), alerts::add);
        }
        row(3).action();
        engine.match("read", statement(3), alerts::add);

        assertNames("query1", "query2", "query3");
    }

    @Test
    void aRowIsNamedWhileItsStatementHasNotArrived() {
        for (int second = 1; second <= 3; second++) {
            engine.match("read", row(second), alerts::add);
            engine.match("read", row(second), alerts::add);
        }

        assertNames("row1", "row2", "row3");
    }

    @Test
    void theStatementIsNamedForARowThatComesAfterIt() {
        for (int second = 1; second <= 3; second++) {
            statement(second).action();
            engine.match("read", row(second), alerts::add);
        }

        assertNames("query1", "query2", "query3");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void allValuesOfAnActionNameItOnce(boolean isRowFirst) {
        start("type: value_count\nrules: [read, write]\ngroup-by: user\ntimespan: 10s\n"
                + "condition: {gte: 6, field: table}");
        for (int second = 1; second <= 3; second++) {
            DetectionEvent row = row(second);
            String expected = row.actionId();
            DetectionEvent statement = statement(second);
            assertThat(statement.actionId()).isEqualTo(expected);
            for (DetectionEvent event : isRowFirst ? List.of(row, statement) : List.of(statement, row)) {
                engine.match("read", event, alerts::add);
                engine.match("write", event, alerts::add);
            }
        }

        assertNames("query1", "query2", "query3");
    }

    @Test
    void aMeasuredActionNamesItsStatement() {
        start("type: value_avg\nrules: read\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 1, field: rows}");
        engine.match("read", row(1), alerts::add);
        engine.match("read", statement(1), alerts::add);
        engine.advance(2 * SECOND, alerts::add);

        assertNames("query1");
    }

    @Test
    void aRepeatedMatchNamesItsStatementAndKeepsItsId() {
        start("type: value_count\nrules: read\ngroup-by: user\ntimespan: 10s\ncondition: {gte: 1, field: database}\n"
                + "repeat_level: low");
        engine.match("read", statement(1), alerts::add);
        row(2).action();
        engine.match("read", statement(2), alerts::add);

        assertThat(alerts).extracting(RaisedAlert::eventIds).containsExactly(List.of("query1"), List.of("query2"));
    }

    /** Nobody can look up an alert that is not raised, so the alert that counts it names the last of its events. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anAlertThatIsRaisedIsNamedByItsOwnId(boolean raised) {
        String outer = "type: event_count\nrules: inner\ngroup-by: user\ntimespan: 1m\ncondition: {gte: 1}";
        RuleSet rules = new RuleSetReader()
                .text(
                        "x.yml",
                        RULES
                                + correlation("inner", COUNT)
                                + correlation("c", outer + (raised ? "\ngenerate: true" : "")))
                .ruleSet();
        assertThat(rules.errors()).isEmpty();
        engine = new InMemoryCorrelationEngine(rules.correlations(), 0);
        for (int second = 1; second <= 3; second++) {
            engine.match("read", statement(second), alerts::add);
        }

        assertThat(alerts).hasSize(raised ? 2 : 1);
        String id = raised ? alerts.get(0).id() : "query3";
        assertThat(alerts.get(alerts.size() - 1).eventIds()).containsExactly(id);
    }

    @Test
    void namesAreTheSameAfterARestore() throws IOException {
        row(1).action();
        engine.match("read", statement(1), alerts::add);
        engine.match("read", row(2), alerts::add);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        engine.write(new DataOutputStream(bytes));
        start(COUNT);
        engine.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        engine.match("read", statement(2), alerts::add);
        engine.match("read", statement(3), alerts::add);

        assertNames("query1", "query2", "query3");
    }

    /** Earlier versions wrote only the id of the action. */
    @Test
    void matchesOfOlderStateNameTheirAction() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeLong(SECOND);
        out.writeLong(0);
        out.writeUTF("row1");
        out.writeInt(RuleIds.ANY);
        out.writeUTF("");
        out.writeLong(20 * SECOND);

        RuleMatch match = RuleMatch.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        assertThat(match.actionId()).isEqualTo("row1");
        assertThat(match.named()).isEqualTo("row1");
        ByteArrayOutputStream again = new ByteArrayOutputStream();
        match.write(new DataOutputStream(again));
        assertThat(again.toByteArray()).isEqualTo(bytes.toByteArray());
    }

    private void assertNames(String... ids) {
        assertThat(alerts).singleElement().satisfies(alert -> assertThat(alert.eventIds())
                .containsExactly(ids));
    }

    private void start(String body) {
        RuleSet rules = new RuleSetReader()
                .text("x.yml", RULES + correlation("c", body))
                .ruleSet();
        assertThat(rules.errors()).isEmpty();
        engine = new InMemoryCorrelationEngine(rules.correlations(), 0);
    }

    private DetectionEvent row(int second) {
        return resolved(event("row" + second, second)
                .text("event_class", "table")
                .texts("table", List.of("shop.cards" + second)));
    }

    private DetectionEvent statement(int second) {
        return resolved(event("query" + second, second)
                .text("event_class", "query")
                .text("query_id", "00000000000000AA")
                .texts("table", List.of("shop.cards" + second, "shop.users" + second)));
    }

    private static DetectionEvent.Builder event(String id, int second) {
        return DetectionEvent.builder(id, second * SECOND, new LogSource("database", "mysql", "audit"))
                .text("instance", "db1")
                .text("user", "root")
                .text("database", "shop")
                .number("connection_id", 7)
                .number("rows", 5)
                .number("server_query_id", second);
    }

    private DetectionEvent resolved(DetectionEvent.Builder event) {
        DetectionEvent built = event.build();
        built.actionFrom(actions::of);
        return built;
    }
}
