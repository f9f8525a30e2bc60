package io.tailrace.detection.sigma.reader;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleExceptions;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RuleExceptionsTest {

    private static final long MICROS = 1_000_000;
    private static final long EXPIRES = Instant.parse("2027-01-01T00:00:00Z").getEpochSecond();
    private static final String RULES = named("fail", "outcome: failure")
            + named("login", "outcome: success")
            + correlation(
                    "many",
                    "type: event_count\nrules: fail\ngroup-by: user\ntimespan: 1h\ncondition: {gte: 2}\n"
                            + "generate: true")
            + correlation(
                    "spread",
                    "type: event_count\nrules: fail\ngroup-by: src_ip\ntimespan: 1h\ncondition: {gte: 2}\n"
                            + "generate: true")
            + correlation(
                    "worse",
                    "type: value_count\nrules: many\ntimespan: 1h\ncondition: {gte: 2, field: user}\n"
                            + "generate: true");

    private final List<String> alerts = new ArrayList<>();
    private DetectionEngine engine;
    private int number;

    @Test
    void anExceptionOfARuleSuppressesItsAlertsAndWhatCorrelationsCount() {
        start(exception("fail", "{user: etl}"));

        fail(0, "etl", "10.0.0.1");
        fail(1, "etl", "10.0.0.1");
        fail(2, "app", "10.0.0.1");

        assertThat(alerts).containsExactly("fail");
        assertThat(engine.suppressed()).isEqualTo(Map.of("e1", 2L));
    }

    @Test
    void anExceptionOfACorrelationLeavesTheRuleAndOtherCorrelations() {
        start(exception("many", "{user: etl, src_ip|cidr: 10.0.0.0/8}"));

        fail(0, "etl", "10.0.0.1");
        fail(1, "etl", "10.0.0.1");

        assertThat(alerts).containsExactly("fail", "fail", "spread");
        assertThat(engine.suppressed()).isEqualTo(Map.of("e1", 2L));
    }

    @Test
    void anExceptionOfACorrelationOfCorrelationsSeesTheirFields() {
        start(exception("worse", "{user: etl}"));

        for (String user : List.of("etl", "app", "web")) {
            fail(0, user, "10.0.0.1" + user.length());
            fail(1, user, "10.0.0.1" + user.length());
            assertThat(alerts.contains("worse")).isEqualTo("web".equals(user));
        }
        assertThat(engine.suppressed()).isEqualTo(Map.of("e1", 1L));
    }

    @Test
    void theTimeOfTheEventDecidesWhetherItIsExpired() {
        start(exception("fail", "{user: etl}"));

        fail(EXPIRES, "etl", "10.0.0.1");
        assertThat(alerts).containsExactly("fail");
        fail(EXPIRES - 1, "etl", "10.0.0.1");
        assertThat(alerts).containsExactly("fail");

        RuleExceptions exceptions = compile(exception("fail", "{user: etl}")).exceptions();
        assertThat(exceptions.expiredAt(EXPIRES * MICROS - 1)).isEmpty();
        assertThat(exceptions.expiredAt(EXPIRES * MICROS)).singleElement().satisfies(expired -> {
            assertThat(expired.expiry().line())
                    .isEqualTo(exceptions.all().get(0).place().line());
            assertThat(expired.expiry().reason()).contains("\"e1\" of dba expired on 2027-01-01");
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "rule: fail; rule: nobody; there is no rule nobody",
                "owner: dba; owner: ''; no owner",
                "reason: ticket 1; reason:; no reason",
                "expires: 2027-01-01; expires: soon; expected to be a date",
                "expires: 2027-01-01; expires: 2027-02-30; expected to be a date",
                "expires: 2027-01-01; until: 2027-01-01; an exception has no until",
                "user: etl; usr: etl; no field usr; the nearest is user",
                "user: etl; user|near: etl; unknown modifier",
            })
    void mistakesAreRefused(String part, String wrong, String reason) {
        String yaml = exception("fail", "{user: etl}").replace(part, wrong);
        RuleSet rules = new RuleSetReader(new RuleContext(Map.of(), new DatabaseFieldMapping()))
                .text("x.yml", RULES + yaml)
                .ruleSet();
        assertThat(rules.errors()).singleElement().satisfies(error -> assertThat(error.reason())
                .contains(reason.split(";")[0]));
        assertThat(rules.exceptions().all()).isEmpty();
    }

    @Test
    void titlesAreUniqueAndMissingKeysAreRefused() {
        String one = exception("fail", "{user: etl}");
        assertThat(new RuleSetReader()
                        .text("x.yml", RULES + one + "---\n" + one)
                        .ruleSet()
                        .errors())
                .singleElement()
                .satisfies(error -> assertThat(error.reason()).contains("another exception is called e1"));
        for (String key : List.of("rule", "selection", "reason", "owner", "expires")) {
            String without = one.replaceAll("(?m)^  " + key + ":.*\n", "");
            assertThat(new RuleSetReader()
                            .text("x.yml", RULES + without)
                            .ruleSet()
                            .errors())
                    .singleElement()
                    .satisfies(error -> assertThat(error.reason()).contains("has no " + key));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{user: '*'}",
                "{user|exists: true}",
                "{user|re: '.*'}",
                "{user|contains: ''}",
                "{user|neq: app}",
                "{src_ip|cidr: 0.0.0.0/0}",
                "{rows_sent|gte: 0}",
                "[{user: etl}, {user: '*', src_ip: '*'}]",
                "['*']",
            })
    void aSelectionOfEverythingIsRefused(String selection) {
        RuleSet rules = new RuleSetReader()
                .text("x.yml", RULES + exception("fail", selection))
                .ruleSet();
        assertThat(rules.errors()).singleElement().satisfies(error -> assertThat(error.reason())
                .contains("events with any values"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{user: '*', src_ip: 10.0.0.1}",
                "{user|startswith: etl}",
                "{rows_sent|lt: 100}",
                "{user|neq: app, program: mysqldump}",
                "{program: null}",
                "[{user: etl}, {user: app}]",
                "[mysqldump]",
            })
    void aSelectionThatRequiresAValueIsAccepted(String selection) {
        assertThat(compile(exception("fail", selection)).exceptions().all()).hasSize(1);
    }

    private void start(String exception) {
        engine = new DetectionEngine(compile(exception), 0);
    }

    private static RuleSet compile(String exception) {
        RuleSet rules = new RuleSetReader().text("x.yml", RULES + exception).ruleSet();
        assertThat(rules.errors()).isEmpty();
        return rules;
    }

    private static String exception(String rule, String selection) {
        return "title: e1\nexception:\n  rule: " + rule + "\n  selection: " + selection
                + "\n  reason: ticket 1\n  owner: dba\n  expires: 2027-01-01\n";
    }

    private void fail(long second, String user, String address) {
        DetectionEvent event = DetectionEvent.builder("f" + ++number, second * MICROS, LogSource.ANY)
                .text("outcome", "failure")
                .text("user", user)
                .text("src_ip", address)
                .build();
        engine.detect(event, this::note);
    }

    private void note(RaisedAlert alert) {
        alerts.add(alert.rule().key());
    }
}
