package io.tailrace.detection.sigma.reader;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A rule with {@code yields_to} does not report what a more specific rule reports. */
class YieldingRulesTest {

    private static final String GENERIC = rule("generic", "statement|startswith: set", "yields_to: [specific]\n");

    private static String rule(String name, String search, String more) {
        return "title: " + name + "\nname: " + name + "\n" + more + "logsource: {category: database}\ndetection:\n"
                + "  selection:\n    " + search + "\n  condition: selection\n---\n";
    }

    private static RuleSet compile(String yaml) {
        return new RuleSetReader().text("x.yml", yaml).ruleSet();
    }

    private static List<String> titles(RuleSet rules, String statement) {
        DetectionEngine engine = new DetectionEngine(rules, 0);
        List<String> titles = new ArrayList<>();
        engine.detect(
                DetectionEvent.builder("e", 1, new LogSource("database", "mysql", "audit"))
                        .text("statement", statement)
                        .text("instance", "db")
                        .build(),
                alert -> titles.add(alert.rule().title()));
        return titles;
    }

    /** Returns a correlation that reports the first match of a rule, with more keys. */
    private static String firstOccurrences(String more) {
        return rule("specific_each", "statement|contains: log", "")
                + more
                + RuleText.correlation(
                        "specific",
                        "type: value_count\nrules: specific_each\ngroup-by: instance\ntimespan: 30d\n"
                                + "condition: {gte: 1, field: instance}");
    }

    @Test
    void theMoreSpecificRuleAloneReportsAnEventThatBothMatch() {
        RuleSet rules = compile(GENERIC + rule("specific", "statement|contains: log", ""));

        assertThat(rules.errors()).isEmpty();
        assertThat(titles(rules, "set global log = 0")).containsExactly("specific");
        assertThat(titles(rules, "set global other = 0")).containsExactly("generic");
    }

    @Test
    void theNameOfARuleThatReportsFirstOccurrencesMeansTheRuleThatItCounts() {
        RuleSet rules = compile(GENERIC + firstOccurrences(""));

        assertThat(rules.errors()).isEmpty();
        assertThat(titles(rules, "set global log = 0")).containsExactly("specific");
    }

    @Test
    void filtersOfTheMoreSpecificRuleApply() {
        String filter = "title: f\nlogsource: {category: database}\nfilter:\n  rules: [specific]\n"
                + "  selection: {statement|contains: ours}\n  condition: not selection\n---\n";
        RuleSet rules = compile(GENERIC + rule("specific", "statement|contains: log", "") + filter);

        assertThat(titles(rules, "set global our_log = ours")).containsExactly("generic");
    }

    @Test
    void canaryAndDeprecatedRulesReportNothingSoOthersDo() {
        for (String more : List.of("tags: [tailrace.canary]\n", "status: deprecated\n")) {
            RuleSet rules = compile(GENERIC + rule("specific", "statement|contains: log", more));

            assertThat(rules.errors()).isEmpty();
            assertThat(titles(rules, "set global log = 0")).contains("generic");
        }
    }

    @Test
    void noRuleYieldsToACorrelationThatReportsNothing() {
        for (String more : List.of("tags: [tailrace.canary]\n", "status: deprecated\n")) {
            RuleSet rules = compile(GENERIC + firstOccurrences(more));

            assertThat(rules.errors()).isEmpty();
            assertThat(titles(rules, "set global log = 0")).contains("generic");
        }
    }

    @Test
    void noRuleYieldsToOneThatOnlyCountsTowardsACorrelation() {
        RuleSet rules = compile(GENERIC
                + rule("specific", "statement|contains: log", "")
                + RuleText.correlation(
                        "many",
                        "type: event_count\nrules: specific\ngroup-by: instance\ntimespan: 1h\ncondition: {gte: 9}"));

        assertThat(rules.errors()).isEmpty();
        assertThat(titles(rules, "set global log = 0")).containsExactly("generic");
    }

    @Test
    void rulesThatYieldToEachOtherAreAnError() {
        RuleSet rules = compile(GENERIC
                + rule("specific", "statement|contains: log", "yields_to: [other]\n")
                + rule("other", "statement|contains: log", "yields_to: [generic]\n"));

        assertThat(rules.errors())
                .extracting(RuleError::reason)
                .containsExactly(
                        "the rule specific yields to this rule",
                        "the rule other yields to this rule",
                        "the rule generic yields to this rule");
        assertThat(titles(rules, "set global log = 0")).containsExactly("generic", "specific", "other");
    }

    @Test
    void aRuleYieldsToItselfByMistake() {
        RuleSet rules = compile(rule("specific", "statement|contains: log", "yields_to: [specific]\n"));

        assertThat(rules.errors()).hasSize(1);
        assertThat(titles(rules, "set global log = 0")).containsExactly("specific");
    }

    @Test
    void theSecondRuleWithATitleYieldsItself() {
        String unnamed = "title: t\n%slogsource: {category: database}\ndetection:\n  selection:\n    statement: %s\n"
                + "  condition: selection\n---\n";
        RuleSet rules = compile(unnamed.formatted("", "set first_log = 0")
                + unnamed.formatted("yields_to: [specific]\n", "set second_log = 0")
                + rule("specific", "statement|contains: _log", ""));

        assertThat(titles(rules, "set first_log = 0")).containsExactly("t", "specific");
        assertThat(titles(rules, "set second_log = 0")).containsExactly("specific");
    }

    @Test
    void onlyARuleOverSingleEventsYields() {
        RuleSet rules = compile(rule("specific", "statement|contains: log", "")
                + "yields_to: [specific]\n"
                + RuleText.correlation(
                        "many",
                        "type: event_count\nrules: specific\ngroup-by: instance\ntimespan: 1h\ncondition: {gte: 9}"));

        assertThat(rules.errors())
                .extracting(RuleError::reason)
                .containsExactly("only a rule over single events yields to others");
    }

    @Test
    void anUnknownNameIsAnError() {
        RuleSet rules = compile(GENERIC);

        assertThat(rules.errors()).singleElement().satisfies(error -> {
            assertThat(error.reason()).contains("there is no rule specific");
            assertThat(error.line()).isEqualTo(3);
        });
        assertThat(titles(rules, "set global other = 0")).containsExactly("generic");
    }
}
