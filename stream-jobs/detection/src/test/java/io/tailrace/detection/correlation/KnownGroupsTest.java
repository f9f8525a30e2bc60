package io.tailrace.detection.correlation;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Groups that other rules make known, so that their first match has the level of repeated ones. */
class KnownGroupsTest {

    private static final long SECOND = 1_000_000;
    private static final int DAY = 86_400;
    private static final long LATENESS = 5 * SECOND;
    private static final String BODY = "type: value_count\ngroup-by: [user, host]\noptional: [user, host]\n"
            + "condition: {gte: 1, field: instance}\nrepeat_level: low\nrules: made\nknown_by: works\n"
            + "timespan: 100s\n";
    private static final String RULES =
            named("made", "a: made") + named("works", "a: works") + named("acts", "a: acts");

    private final List<RaisedAlert> alerts = new ArrayList<>();
    private InMemoryCorrelationEngine engine;

    @Test
    void aKnownGroupHasTheRepeatLevelFromItsFirstMatchOn() {
        start("known_after: 10s");

        on("works", "one", 5, "dba", "jump");
        on("made", "one", 14, "dba", "jump"); // 9 s later: not known yet
        on("works", "one", 20, "ann", "jump");
        on("made", "one", 30, "ann", "jump");
        on("made", "two", 31, "ann", "jump"); // known on another server only
        on("made", "one", 32, "ann", "other");
        on("made", "one", 33, "eve", "jump");
        on("works", "one", 40, "old", "jump");
        on("made", "one", 140, "old", "jump"); // longer ago than the timespan

        assertThat(levels())
                .containsExactly(
                        "MEDIUM one dba jump",
                        "LOW one ann jump",
                        "MEDIUM two ann jump",
                        "MEDIUM one ann other",
                        "MEDIUM one eve jump",
                        "MEDIUM one old jump");
        assertThat(alerts.get(1).facts()).containsOnly(Map.entry("known_since", "1970-01-01T00:00:20Z"));
    }

    @Test
    void matchesByWhichAGroupIsKnownRaiseNoAlertAndRepeatNone() {
        start("known_after: 10s\none_change: 5s");

        on("works", "one", 1, "dba", "jump");
        on("works", "one", 30, "dba", "jump");
        on("made", "two", 31, "dba", "jump");
        on("made", "one", 33, "dba", "jump");

        assertThat(levels()).containsExactly("MEDIUM two dba jump", "LOW one dba jump");
        assertThat(alerts.get(1).facts()).containsOnlyKeys("first_reported", "known_since");
    }

    @Test
    void aGroupThatIsBusyForLongStaysKnownWithFewMatchesInItsState() throws IOException {
        start("known_after: 10s");

        for (int second = 0; second < 400; second++) {
            on("works", "one", second, "dba", "jump");
            engine.advance(second * SECOND, alerts::add);
        }
        assertThat(state()).hasSizeLessThan(500);
        on("made", "one", 400, "dba", "jump");

        assertThat(levels()).containsExactly("LOW one dba jump");
    }

    @Test
    void whatIsKnownIsStored() throws IOException {
        start("known_after: 10s");
        on("works", "one", 1, "dba", "jump");
        byte[] state = state();

        start("known_after: 10s");
        engine.read(new DataInputStream(new ByteArrayInputStream(state)));
        on("made", "one", 20, "dba", "jump");

        assertThat(levels()).containsExactly("LOW one dba jump");
    }

    @Test
    void ifOnlyKnownGroupsCountANewValueIsReportedAndAKnownOneHasTheRepeatLevel() throws IOException {
        start("known_after: 10s\nknown_only: true");

        on("made", "one", 1, "eve", "jump"); // never known
        on("works", "one", 2, "dba", "jump");
        on("made", "two", 11, "dba", "jump"); // 9 s later: not known yet
        on("works", "home", 12, "dba", "jump");
        on("made", "one", 30, "dba", "jump");
        on("made", "two", 31, "dba", "jump");
        on("made", "two", 32, "dba", "jump");
        on("made", "two", 200, "dba", "jump"); // longer ago than the timespan
        engine.advance(201 * SECOND, alerts::add);

        assertThat(levels()).containsExactly("LOW one dba jump", "MEDIUM two dba jump", "LOW two dba jump");
        assertThat(alerts.get(1).facts()).containsOnly(Map.entry("known_elsewhere", "home, one"));
        assertThat(alerts.get(2).facts()).containsKeys("first_reported", "known_elsewhere");
    }

    @Test
    void aGroupThatAnotherCorrelationReportsRaisesNoAlert() throws IOException {
        start("known_after: 10s\nknown_only: true\nknown_except: acts");

        on("works", "one", 1, "dba", "jump");
        on("works", "one", 1, "ann", "jump");
        on("acts", "two", 2, "dba", "jump");
        on("made", "one", 11, "dba", "jump"); // 9 s later: not excluded yet
        on("made", "one", 12, "dba", "jump");
        on("made", "one", 13, "ann", "jump");
        on("acts", "one", 20, "eve", "jump");
        on("made", "one", 40, "eve", "jump"); // excluded, and never known
        engine.advance(200 * SECOND, alerts::add);

        assertThat(levels()).containsExactly("LOW one dba jump", "LOW one ann jump");
    }

    @Test
    void matchesOfUnknownGroupsAreNotStored() throws IOException {
        start("known_after: 10s\nknown_only: true");
        int none = state().length;
        for (int name = 0; name < 100; name++) {
            on("made", "one", name, "tried" + name, "jump");
        }
        engine.advance(100 * SECOND, alerts::add);

        assertThat(engine.groups()).isZero();
        assertThat(state()).hasSize(none);
    }

    @Test
    void aRoutineIsKnownByMatchesOnSeveralDays() throws IOException {
        start("known_after: 1d\nknown_days: 2", "90d");

        on("works", "one", 0, "dba", "jump");
        on("works", "one", 3600, "dba", "jump"); // on the same day
        on("made", "one", 2 * DAY, "dba", "jump"); // one day is no routine
        on("made", "one", 2 * DAY + 5, "dba", "jump"); // a repetition has the level of the rule
        on("works", "one", 3 * DAY, "dba", "jump");
        byte[] state = state();

        start("known_after: 1d\nknown_days: 2", "90d");
        engine.read(new DataInputStream(new ByteArrayInputStream(state)));
        on("made", "one", 3 * DAY + 60, "dba", "jump"); // the second day is not long ago
        on("made", "one", 5 * DAY, "dba", "jump");
        on("made", "two", 5 * DAY, "dba", "jump");

        assertThat(levels())
                .containsExactly(
                        "MEDIUM one dba jump",
                        "MEDIUM one dba jump",
                        "MEDIUM one dba jump",
                        "LOW one dba jump",
                        "MEDIUM two dba jump");
    }

    @Test
    void aRoutineNeedsOneMatchOfEachDayInItsState() throws IOException {
        start("known_after: 1d\nknown_days: 2", "90d");
        on("works", "one", 0, "dba", "jump");
        int size = state().length;
        for (int minute = 1; minute < 600; minute++) {
            on("works", "one", minute * 60, "dba", "jump");
        }

        assertThat(state()).hasSize(size);
    }

    @Test
    void theRuleItselfCountsItsOwnMatchesOnly() {
        CorrelationRule rule = rules("known_after: 10s").correlations().get(0);

        assertThat(rule.counted()).hasSize(1);
        assertThat(rule.rules()).hasSize(2);
    }

    @Test
    void onlyAReportOfFirstMatchesOfValuesHasKnownGroups() {
        assertThat(errors(BODY.replace("value_count", "event_count").replace(", field: instance", "")
                        + "known_after: 1d"))
                .containsExactly("only a value_count with a repeat_level has known_by");
        assertThat(errors(BODY.replace("repeat_level: low\n", "") + "known_after: 1d"))
                .containsExactly("only a value_count with a repeat_level has known_by");
        assertThat(errors(BODY)).singleElement().asString().contains("known_after");
        assertThat(errors(BODY.replace("known_by: works\n", "") + "known_only: true"))
                .containsExactly("only a correlation with known_by has known_only");
        assertThat(errors(BODY + "known_after: 1d\nknown_except: acts"))
                .containsExactly(
                        "known_except is expected with known_only, and to name rules that known_by does not name");
        assertThat(errors(BODY + "known_after: 1d\nknown_only: true\nknown_except: works"))
                .containsExactly(
                        "known_except is expected with known_only, and to name rules that known_by does not name");
        assertThat(errors(BODY.replace("known_by: works\n", "") + "known_days: 3"))
                .containsExactly("only a correlation with known_by has known_days");
        assertThat(errors(BODY + "known_after: 1d\nknown_days: 1"))
                .containsExactly("known_days is expected to be a number from 2 to 30, found 1");
        assertThat(errors(BODY + "known_after: 1d\nknown_only: 7"))
                .containsExactly("known_only is expected to be true or false");
        assertThat(errors(BODY.replace("known_by: works\n", "") + "known_after: 1d"))
                .containsExactly("only a correlation with known_by has known_after");
        assertThat(errors(BODY.replace("known_by: works", "known_by: made") + "known_after: 1d"))
                .containsExactly("known_by is expected to name rules that the correlation does not count, found made");
        assertThat(errors(BODY.replace("known_by: works", "known_by: nothing") + "known_after: 1d"))
                .containsExactly("there is no rule nothing, or it was rejected");
    }

    private void start(String more, String timespan) {
        RuleSet rules = new RuleSetReader()
                .text("x.yml", RULES + correlation("c", BODY.replace("100s", timespan) + more))
                .ruleSet();
        assertThat(rules.errors()).isEmpty();
        engine = new InMemoryCorrelationEngine(rules.correlations(), LATENESS);
    }

    private void start(String more) {
        engine = new InMemoryCorrelationEngine(rules(more).correlations(), LATENESS);
    }

    private static RuleSet rules(String more) {
        RuleSet rules = new RuleSetReader()
                .text("x.yml", RULES + correlation("c", BODY + more))
                .ruleSet();
        assertThat(rules.errors()).isEmpty();
        return rules;
    }

    private static List<String> errors(String body) {
        return new RuleSetReader()
                .text("x.yml", RULES + correlation("c", body)).ruleSet().errors().stream()
                        .map(RuleError::reason)
                        .toList();
    }

    private byte[] state() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        engine.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    private void on(String rule, String instance, int second, String user, String host) {
        DetectionEvent event = DetectionEvent.builder(rule + instance + second, second * SECOND, LogSource.ANY)
                .text("instance", instance)
                .text("user", user)
                .text("host", host)
                .build();
        engine.match(rule, event, alerts::add);
    }

    private List<String> levels() {
        return alerts.stream()
                .map(alert -> alert.rule().level() + " "
                        + String.join(" ", alert.entity().values()))
                .toList();
    }
}
