package io.tailrace.detection.coverage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.testing.Contract;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class RuleCoverageEvaluatorTest {

    private static final LogSource AUDIT = new LogSource("database", "mysql", "audit");
    private static final LogSource SLOW = new LogSource("database", "mysql", "slowlog");
    private static final LogSource ERROR = new LogSource("database", "mysql", "errorlog");

    private static final LogSource GENERAL = new LogSource("database", "mysql", "general");

    private static final String RULES =
            """
            title: Refused login
            name: refused
            logsource: {category: database}
            detection: {s: {event_class: connection, outcome: failure}, condition: s}
            ---
            title: Many rows
            name: many_rows
            logsource: {category: database}
            detection: {s: {event_class: query, rows_sent|gte: 1000}, condition: s}
            ---
            title: Message
            name: message
            logsource: {category: database, service: errorlog}
            detection: {s: {kind: access_denied}, condition: s}
            ---
            title: Reads cards
            logsource: {category: database}
            detection: {s: {data_class_read: pci}, condition: s}
            ---
            title: Account made
            logsource: {category: database}
            detection: {s: {target_user: eve}, condition: s}
            ---
            title: Tagged
            logsource: {category: database}
            detection: {s: {tag.tenant: '7'}, condition: s}
            ---
            title: Without a password
            logsource: {category: database}
            detection:
              general: {login: failure, attribute.using_password: 'NO'}
              message: {login: failure, detail.using_password: 'NO'}
              condition: 1 of them
            ---
            title: Guessing
            correlation: {type: event_count, rules: [refused], group-by: [user], timespan: 1m, condition: {gte: 5}}
            ---
            title: Guessing each minute
            name: guessing
            correlation: {type: event_count, rules: [refused], group-by: [user], timespan: 1m, condition: {gte: 2}}
            ---
            title: Guessing again
            name: again
            correlation: {type: event_count, rules: [guessing], group-by: [user], timespan: 1h, condition: {gte: 2}}
            ---
            title: Guessing for days
            correlation: {type: event_count, rules: [again], group-by: [user], timespan: 1d, condition: {gte: 2}}
            ---
            title: Guessed and read
            correlation: {type: temporal, rules: [refused, many_rows], group-by: [user], timespan: 1h, condition: {gte: 2}}
            ---
            title: Both logged
            correlation: {type: temporal, rules: [message, many_rows], group-by: [user], timespan: 1h, condition: {gte: 2}}
            """;

    private static final RuleSet SET = new RuleSetReader(new RuleContext(Map.of(), new DatabaseFieldMapping()))
            .text("rules.yml", RULES)
            .ruleSet();

    private static DetectionEvent.Builder event(LogSource log, String eventClass) {
        return DetectionEvent.builder("e", 1, log).text("event_class", eventClass);
    }

    private static ObservedFields contents(DetectionEvent.Builder... events) {
        ObservedFields contents = new ObservedFields();
        for (DetectionEvent.Builder event : events) {
            contents.add(event.build());
        }
        return contents;
    }

    private static ObservedFields audit() {
        return contents(event(AUDIT, "connection").text("outcome", "failure").text("user", "ann"));
    }

    private static ObservedFields slow() {
        return contents(
                event(SLOW, "query").number("rows_sent", 7).text("user", "ann").text("statement", "select 1"));
    }

    private static Map<LogSource, ObservedFields> server() {
        return Map.of(
                AUDIT,
                audit(),
                SLOW,
                slow(),
                ERROR,
                contents(event(ERROR, "message").text("kind", "x")));
    }

    private static Optional<MissingRequirement> obstacle(
            String title, boolean classes, Map<LogSource, ObservedFields> logs) {
        assertThat(SET.errors()).isEmpty();
        return RuleCoverageEvaluator.answers(SET, classes, logs).stream()
                .filter(answer -> answer.rule().title().equals(title))
                .findAny()
                .orElseThrow()
                .obstacle();
    }

    private static Optional<MissingRequirement> obstacle(String title, LogSource log, ObservedFields contents) {
        return obstacle(title, false, Map.of(log, contents));
    }

    @Test
    void everyRuleThatAlertsHasAnAnswer() {
        assertThat(RuleCoverageEvaluator.answers(SET, false, server()))
                .extracting(answer -> answer.rule().title())
                .containsExactlyInAnyOrder(
                        "Reads cards",
                        "Account made",
                        "Tagged",
                        "Without a password",
                        "Guessing",
                        "Guessing for days",
                        "Guessed and read",
                        "Both logged");
    }

    @Test
    void aMissingClassIsNamed() {
        assertThat(obstacle("Guessing", AUDIT, audit())).isEmpty();
        assertThat(obstacle("Guessing", SLOW, slow())).hasValueSatisfying(obstacle -> {
            assertThat(obstacle.missingClasses()).containsExactly("connection");
            assertThat(obstacle.missingFields()).containsExactly("outcome");
            assertThat(obstacle.reason())
                    .isEqualTo("the rule that it counts cannot match: it matches other events; this log contains only"
                            + " events of the class query");
        });
    }

    @Test
    void aReasonOfACorrelationOfCorrelationsBeginsOnce() {
        String root = "it matches other events; this log contains only events of the class query";
        assertThat(obstacle("Guessing for days", SLOW, slow()))
                .hasValueSatisfying(obstacle ->
                        assertThat(obstacle.reason()).isEqualTo("the rule that it counts cannot match: " + root));
    }

    @Test
    void aCorrelationMayCountEventsOfDifferentLogs() {
        assertThat(obstacle("Guessed and read", AUDIT, audit())).isPresent();
        assertThat(obstacle("Guessed and read", SLOW, slow()))
                .hasValueSatisfying(obstacle -> assertThat(obstacle.reason())
                        .startsWith("only 1 of the 2 rules of this correlation can match: it matches other events"));
        assertThat(obstacle("Guessed and read", false, server())).isEmpty();
    }

    @Test
    void anExpressionOverRulesNeedsAllRulesOfOneAlternative() {
        String guessed =
                """
                ---
                title: Refused or reported, then read
                correlation:
                  type: temporal_ordered
                  rules: [refused, message, many_rows]
                  condition: (refused or message) and many_rows
                  group-by: user
                  timespan: 1d
                """;
        RuleSet rules = new RuleSetReader(new RuleContext(Map.of(), new DatabaseFieldMapping()))
                .text("rules.yml", RULES + guessed)
                .ruleSet();
        ObservedFields denied =
                contents(event(ERROR, "message").text("kind", "x").text("user", "ann"));

        assertThat(rules.errors()).isEmpty();
        assertThat(withoutObstacle(rules, Map.of(AUDIT, audit(), ERROR, denied)))
                .isFalse();
        assertThat(withoutObstacle(rules, Map.of(AUDIT, audit(), SLOW, slow()))).isTrue();
        assertThat(withoutObstacle(rules, Map.of(ERROR, denied, SLOW, slow()))).isTrue();
        assertThat(withoutObstacle(rules, Map.of(SLOW, slow()))).isFalse();
    }

    private static boolean withoutObstacle(RuleSet rules, Map<LogSource, ObservedFields> logs) {
        return RuleCoverageEvaluator.answers(rules, false, logs).stream()
                .filter(answer -> answer.rule().title().equals("Refused or reported, then read"))
                .findAny()
                .orElseThrow()
                .canFire();
    }

    @Test
    void whatMakesAGroupKnownDoesNotMakeACorrelationFire() {
        String known =
                """
                ---
                title: Refused login of an unknown account
                correlation:
                  type: value_count
                  rules: refused
                  group-by: [user]
                  timespan: 9d
                  condition: {gte: 1, field: instance}
                  repeat_level: low
                  known_by: many_rows
                  known_after: 1d
                """;
        RuleSet rules = new RuleSetReader(new RuleContext(Map.of(), new DatabaseFieldMapping()))
                .text("rules.yml", RULES + known)
                .ruleSet();
        ObservedFields reads = new ObservedFields();
        for (String field : List.of("rows_sent", "user", "instance")) {
            reads.add(event(SLOW, "query").text(field, "x").build());
        }

        assertThat(rules.errors()).isEmpty();
        assertThat(RuleCoverageEvaluator.answers(rules, false, Map.of(SLOW, reads)))
                .filteredOn(answer -> answer.rule().title().equals("Refused login of an unknown account"))
                .singleElement()
                .satisfies(answer -> assertThat(answer.canFire()).isFalse());
    }

    @Test
    void itsFieldsMustBeInTheLogsOfItsRules() {
        assertThat(obstacle("Both logged", false, server())).hasValueSatisfying(obstacle -> {
            assertThat(obstacle.missingFields()).containsExactly("user");
            assertThat(obstacle.reason()).isEqualTo("it needs user, which no event of the logs of its rules has");
        });
    }

    @Test
    void theLogWithTheFewestMissingFieldsDeterminesTheReason() {
        assertThat(obstacle("Tagged", false, server())).hasValueSatisfying(obstacle -> {
            assertThat(obstacle.missingFields()).containsExactly("tag.tenant");
            assertThat(obstacle.reason()).contains("audit: it needs tag.tenant").contains("; slowlog: it needs");
        });
    }

    @Test
    @SuppressWarnings("unchecked")
    void reasonsAreThoseThatPagesAndDashboardsShorten() throws IOException {
        Map<LogSource, ObservedFields> all = new HashMap<>(server());
        all.put(GENERAL, contents(event(GENERAL, "query").text("user", "ann")));
        for (Map<String, Object> each : Contract.cases("coverage_reason")) {
            List<String> names = (List<String>) each.get("logs");
            Map<LogSource, ObservedFields> logs = all.entrySet().stream()
                    .filter(log -> names.contains(log.getKey().service()))
                    .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
            assertThat(obstacle((String) each.get("rule"), false, logs))
                    .as("%s", each)
                    .map(MissingRequirement::reason)
                    .contains((String) each.get("reason"));
        }
    }

    @Test
    void dataClassesNeedTablesAndAConfiguration() {
        assertThat(obstacle("Reads cards", false, Map.of(SLOW, slow()))).isPresent();
        assertThat(obstacle("Reads cards", true, Map.of(SLOW, slow()))).isEmpty();
        assertThat(obstacle("Reads cards", true, Map.of(AUDIT, audit()))).isPresent();
    }

    @Test
    void whatStatementsMayNameNeedNotHaveBeenNamedYet() {
        assertThat(obstacle("Account made", SLOW, slow())).isEmpty();
        assertThat(obstacle("Account made", AUDIT, audit())).isPresent();
    }

    @Test
    void anErrorLogMayHaveTheDetailsOfMessagesThatTheServerHasNotWrittenYet() {
        ObservedFields messages = contents(event(ERROR, "message").text("kind", "server_state"));
        assertThat(obstacle("Without a password", ERROR, messages)).isEmpty();
        assertThat(obstacle("Without a password", AUDIT, audit())).isPresent();
        assertThat(obstacle("Without a password", SLOW, slow())).isPresent();
    }

    @Test
    void aLogWithMoreFieldsThanTheLimitLacksNone() {
        ObservedFields many = new ObservedFields();
        for (int i = 0; i < ObservedFields.MAX_OTHERS - 1; i++) {
            many.add(event(SLOW, "query").text("tag.t" + i, "").build());
        }
        assertThat(obstacle("Tagged", SLOW, many)).isPresent();
        assertThat(many.add(event(SLOW, "query").text("tag.last", "").build())).isTrue();
        assertThat(many.add(event(SLOW, "query").text("tag.more", "").build())).isFalse();
        assertThat(many.add(event(SLOW, "query").text("rows_sent", "").build())).isTrue();
        assertThat(obstacle("Tagged", SLOW, many)).isEmpty();
    }

    @Test
    void contentsAreReadAsTheyWereWritten() throws IOException {
        ObservedFields both = slow();
        assertThat(both.addAll(audit())).isTrue();
        ObservedFields read = ObservedFields.read(in(bytes(both)));
        assertThat(read.addAll(both)).isFalse();
        assertThat(both.addAll(read)).isFalse();
        byte[] other = bytes(both);
        other[0]++;
        assertThatIOException()
                .isThrownBy(() -> ObservedFields.read(in(other)))
                .withMessage("expected contents of a log of version 1, found 2");
    }

    @Test
    void resultsAreEmittedAgainOnlyAfterAChange() throws IOException {
        InstanceCoverage coverage = new InstanceCoverage(0);
        assertThat(coverage.add("shop", AUDIT, audit())).isTrue();
        assertThat(coverage.add("shop", AUDIT, audit())).isFalse();
        assertThat(reported(coverage, 10)).hasSize(2 * 8);
        coverage = reread(coverage);
        assertThat(reported(coverage, 20)).isEmpty();
        assertThat(coverage.add("shop", SLOW, slow())).isTrue();
        List<InstanceCoverage.ObservedLog> more = reported(coverage, 5);
        assertThat(more).extracting(InstanceCoverage.ObservedLog::reportedAt).containsOnly(21L);
        assertThat(more.stream().filter(reported -> reported.log().equals("slowlog")))
                .hasSize(8);
        assertThat(more.stream()
                        .filter(reported ->
                                reported.log().isEmpty() && reported.answer().canFire())
                        .map(reported -> reported.answer().rule().title()))
                .containsExactly("Account made", "Guessed and read");
    }

    @Test
    void whatIsNotSeenInTwoPeriodsIsForgotten() {
        InstanceCoverage coverage = new InstanceCoverage(0);
        coverage.add("shop", AUDIT, audit());
        coverage.add("shop", SLOW, slow());
        reported(coverage, 10);
        coverage.endPeriod(1);
        assertThat(coverage.add("shop", AUDIT, audit())).isFalse();
        assertThat(reported(coverage, 20)).isEmpty();
        coverage.endPeriod(2);
        assertThat(reported(coverage, 30))
                .filteredOn(reported -> reported.answer() == null)
                .hasSize(8)
                .extracting(InstanceCoverage.ObservedLog::log)
                .containsOnly("slowlog");
        coverage.endPeriod(3);
        coverage.endPeriod(4);
        assertThat(reported(coverage, 40)).hasSize(2 * 8).allMatch(reported -> reported.answer() == null);
        assertThat(coverage.isEmpty()).isTrue();
    }

    private static List<InstanceCoverage.ObservedLog> reported(InstanceCoverage coverage, long micros) {
        List<InstanceCoverage.ObservedLog> reported = new ArrayList<>();
        coverage.changedResults(new RuleCoverageAnswers(SET, false), false, micros, reported::add);
        return reported;
    }

    private static InstanceCoverage reread(InstanceCoverage coverage) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        coverage.write(new DataOutputStream(out));
        return InstanceCoverage.read(in(out.toByteArray()));
    }

    private static byte[] bytes(ObservedFields contents) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        contents.write(new DataOutputStream(out));
        return out.toByteArray();
    }

    private static DataInputStream in(byte[] bytes) {
        return new DataInputStream(new ByteArrayInputStream(bytes));
    }
}
