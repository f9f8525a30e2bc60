package io.tailrace.detection.correlation;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The level of first occurrences while the log of an instance is young. */
class FirstDaysTest {

    private static final Instant START = Instant.parse("2026-11-02T00:00:00Z");
    private static final int DAY = 86_400;
    private static final String BODY = "type: value_count\ngroup-by: [instance, user]\noptional: [instance, user]\n"
            + "condition: {gte: 1, field: a}\nrules: made\ntimespan: 90d\n";

    private final List<RaisedAlert> alerts = new ArrayList<>();
    private DetectionEngine engine = engine("learning: 14d");
    private int events;

    private static DetectionEngine engine(String more) {
        RuleSet rules = new RuleSetReader()
                .text("r.yml", named("made", "a: made") + correlation("first", BODY + more))
                .ruleSet();
        assertThat(rules.errors()).isEmpty();
        return new DetectionEngine(rules, 0);
    }

    @Test
    void aFirstOccurrenceIsLowUntilTheLogIsLongEnoughAndSaysWhy() {
        on(0, "db-1", Map.of("a", "other"));
        on(3 * DAY + 5, "db-1", Map.of("a", "made", "user", "job"));
        on(14 * DAY - 1, "db-1", Map.of("a", "made", "user", "etl"));
        on(14 * DAY, "db-1", Map.of("a", "made", "user", "late"));
        on(14 * DAY + 1, "db-2", Map.of("a", "made", "user", "job"));

        assertThat(alerts)
                .extracting(alert -> alert.rule().level().name())
                .containsExactly("LOW", "LOW", "MEDIUM", "LOW");
        assertThat(alerts.get(0).facts())
                .containsEntry("history_days", "3")
                .containsEntry(
                        "explanation",
                        "The log has 3 days of history; the level is medium instead of low once it has 14.");
        assertThat(alerts.get(2).facts()).doesNotContainKeys("history_days", "explanation");
    }

    /** An attacker who arrives on the third day. */
    @ParameterizedTest
    @CsvSource({
        "user, root",
        "user, ''",
        "src_ip, 198.51.100.7",
        "program, DBeaver 24.1 - Main",
        "data_class_written, pii",
    })
    void aShortHistoryDoesNotExcuseWhatNoJobDoes(String field, String value) {
        on(0, "db-1", Map.of("a", "other"));
        Map<String, String> fields = new HashMap<>(Map.of("a", "made", "user", "job"));
        fields.put(field, value);
        on(3 * DAY, "db-1", fields);

        assertThat(alerts).extracting(alert -> alert.rule().level().name()).containsExactly("MEDIUM");
    }

    @Test
    void anAccountThatIsNewInAnOldLogHasTheLevelOfTheRule() {
        on(0, "db-1", Map.of("a", "other", "user", "app"));
        on(30 * DAY, "db-1", Map.of("a", "made", "user", "new"));

        assertThat(alerts).extracting(alert -> alert.rule().level().name()).containsExactly("MEDIUM");
    }

    @Test
    void anOlderEventThatArrivesLaterMakesTheHistoryLonger() {
        on(20 * DAY, "db-1", Map.of("a", "other"));
        on(0, "db-1", Map.of("a", "other"));
        on(20 * DAY + 1, "db-1", Map.of("a", "made", "user", "job"));

        assertThat(alerts).extracting(alert -> alert.rule().level().name()).containsExactly("MEDIUM");
    }

    @Test
    void learningMayBeRestrictedToGroups() {
        engine = engine("learning: 14d\nlearning_only: {user: [Loc*, other]}");
        on(0, "db-1", Map.of("a", "other"));
        on(1, "db-1", Map.of("a", "made", "user", "local"));
        on(2, "db-1", Map.of("a", "made", "user", "remote"));

        assertThat(alerts).extracting(alert -> alert.rule().level().name()).containsExactly("LOW", "MEDIUM");
    }

    @Test
    void anUnknownBeginningIsALongHistory() {
        on(0, "", Map.of("a", "made", "user", "job"));

        assertThat(alerts).extracting(alert -> alert.rule().level().name()).containsExactly("MEDIUM");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "learning: 3h; learning is expected to be a timespan of a day or longer",
                "learning_only: {user: a}; only a correlation with learning has learning_only",
                "learning: 3d, learning_only: {host: a}; learning_only is expected to name fields of group-by, found host",
            })
    void learningIsRefused(String keys, String error) {
        RuleSet rules = new RuleSetReader()
                .text("r.yml", named("made", "a: made") + correlation("first", BODY + keys.replace(", ", "\n")))
                .ruleSet();

        assertThat(rules.errors()).singleElement().asString().contains(error);
    }

    @Test
    void onlyACorrelationOfFirstOccurrencesLearns() {
        String counting = "type: event_count\ngroup-by: [user]\ncondition: {gte: 2}\nrules: made\ntimespan: 1d\n";
        RuleSet rules = new RuleSetReader()
                .text("r.yml", named("made", "a: made") + correlation("some", counting + "learning: 14d"))
                .ruleSet();

        assertThat(rules.errors())
                .singleElement()
                .asString()
                .contains("only a correlation over one rule with gte: 1 has a learning");
    }

    private void on(int second, String instance, Map<String, String> fields) {
        long micros = START.plusSeconds(second).toEpochMilli() * 1_000;
        DetectionEvent.Builder event = DetectionEvent.builder("e" + events++, micros, LogSource.ANY);
        fields.forEach((field, value) -> {
            if (!value.isEmpty()) {
                event.text(field, value);
            }
        });
        engine.detect(event.known("instance", instance).build(), alerts::add);
    }
}
