package io.tailrace.detection.sigma.reader;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static io.tailrace.detection.sigma.reader.RuleText.rule;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RuleErrorsTest {

    /** A correlation of the rules one and two, and a part of the message. */
    private static final List<List<String>> WRONG_CORRELATIONS = List.of(
            List.of("type: event_sum\nrules: [one]\ntimespan: 5m\ncondition: {gte: 3}", "event_count"),
            List.of("type: value_sum\nrules: [one]\ntimespan: 5m\ncondition: {gte: 3}", "name one field"),
            List.of("type: value_avg\nrules: [one]\ntimespan: 5m\ncondition: {gte: x, field: a}", "be a number"),
            List.of("type: value_avg\nrules: [one]\ntimespan: 5m\ncondition: {field: a}", "one of lt, lte"),
            List.of(
                    "type: value_percentile\nrules: [one]\ntimespan: 5m\ncondition: {lte: 1, field: a}",
                    "have a percentile from 0 to 100"),
            List.of(
                    "type: value_percentile\nrules: [one]\ntimespan: 5m\n"
                            + "condition: {lte: 1, field: a, percentile: 101}",
                    "have a percentile from 0 to 100"),
            List.of(
                    "type: value_median\nrules: [one]\ntimespan: 5m\n"
                            + "condition: {lte: 1, field: a, percentile: 10}",
                    "only value_percentile"),
            List.of("type: event_count\nrules: [one]\ntimespan: 5m\ncondition: {gte: 3, field: a}", "of values"),
            List.of("type: event_count\nrules: [one]\ntimespan: 5 m\ncondition: {gte: 3}", "timespan"),
            List.of("type: event_count\nrules: [one]\ntimespan: 0s\ncondition: {gte: 3}", "timespan"),
            List.of("type: event_count\nrules: [one]\ncondition: {gte: 3}", "no timespan"),
            List.of("type: event_count\nrules: [one]\ntimespan: 5m", "no condition"),
            List.of("type: event_count\nrules: [one]\ntimespan: 5m\ncondition: {more: 3}", "found more"),
            List.of("type: event_count\nrules: [one]\ntimespan: 5m\ncondition: {gte: x}", "whole number"),
            List.of("type: event_count\nrules: [one]\ntimespan: 5m\ncondition: {gte: -1}", "from 0 to"),
            List.of("type: value_count\nrules: [one]\ntimespan: 5m\ncondition: {gte: 3}", "name one field"),
            List.of("type: event_count\nrules: [one]\ntimespan: 5m\ncondition: one", "only temporal"),
            List.of("type: temporal\nrules: [one]\ntimespan: 5m\ncondition: one and two", "each rule of rules"),
            List.of("type: temporal\nrules: [one, two]\ntimespan: 5m\ncondition: one", "each rule of rules"),
            List.of("type: temporal\ntimespan: 5m\ncondition: one and two", "no rule two"),
            List.of("type: temporal\ntimespan: 5m\ncondition: one and not two", "has not matched"),
            List.of("type: temporal\ntimespan: 5m\ncondition: (one", "a closing parenthesis"),
            List.of("type: temporal\ntimespan: 5m\ncondition: one two", "found two"),
            List.of("type: temporal\ntimespan: 5m\ncondition: one and", "found its end"),
            List.of("type: temporal\ntimespan: 5m\ncondition: 1 of one", "found of"),
            List.of("type: temporal\ntimespan: 5m", "no rules"),
            List.of("type: temporal\nrules: [one, one]\ntimespan: 5m", "twice"),
            List.of("type: temporal\nrules: [one]\ntimespan: 5m\nwithin: 3", "no within"),
            List.of("type: temporal_ordered\nrules: [one]\ntimespan: 5m\ncondition: {lt: 1}", "gt or gte"),
            List.of("type: temporal\nrules: [one]\ntimespan: 5m\naliases: {u: {two: x}}", "none of its rules"));

    static Stream<Arguments> refusedDetections() {
        return Stream.of(
                refused("selection:\n  a|near: x\ncondition: selection", 6, "unknown modifier near"),
                refused("selection:\n  a|re: '(?=x)y'\ncondition: selection", 6, "lookahead and lookbehind"),
                refused("selection:\n  a|re: '(?<!x)y'\ncondition: selection", 6, "lookahead and lookbehind"),
                refused("selection:\n  a|re: '(y)\\1'\ncondition: selection", 6, "not valid in RE2"),
                refused("selection:\n  a|re: '((a{1000}){1000}){1000}'\ncondition: selection", 6, "repetitions"),
                refused("selection:\n  a|contains|re: x\ncondition: selection", 6, "first"),
                refused("selection:\n  a|i: x\ncondition: selection", 6, "behind re"),
                refused("selection:\n  a|cidr: 10.0.0.1/8\ncondition: selection", 6, "behind its prefix"),
                refused("selection:\n  a|gt: many\ncondition: selection", 6, "expects a number"),
                refused("selection:\n  a|exists: 'yes'\ncondition: selection", 6, "true or false"),
                refused("selection:\n  a|base64: 'x*'\ncondition: selection", 6, "without wildcards"),
                refused("selection:\n  a|fieldref: 'x*'\ncondition: selection", 6, "without wildcards"),
                refused("selection:\n  a|expand: '%who%'\ncondition: selection", 6, "placeholder"),
                refused("selection:\n  a|contains:\ncondition: selection", 6, "found null"),
                refused("selection:\n  a: {b: c}\ncondition: selection", 6, "a value is expected"),
                refused("selection:\n  a: 1\n  a: 2\ncondition: selection", 7, "twice"),
                refused("selection: []\ncondition: selection", 5, "empty"),
                refused("selection:\n  a: []\ncondition: selection", 6, "the list of values is empty"),
                refused("selection:\n  a|contains|all: []\ncondition: selection", 6, "the list of values is empty"),
                refused("selection:\n  a: !mine x\ncondition: selection", 6, "tags are not supported, found !mine"),
                refused("selection:\n  a: !!binary eHg=\ncondition: selection", 6, "tags are not supported"),
                refused("selection:\n  a: !!str 5\ncondition: selection", 6, "tags are not supported"),
                refused("selection: !!set {a}\ncondition: selection", 5, "tags are not supported"),
                refused("selection:\n  a|expand: 'x%who%%what%'\ncondition: selection", 6, "%who%, %what%"),
                refused("selection:\n  a: 1\ncondition: selection and", 7, "its end"),
                refused("selection:\n  a: 1\ncondition: (selection", 7, "closing parenthesis"),
                refused("selection:\n  a: 1\ncondition: selection selection", 7, "and, or"),
                refused("selection:\n  a: 1\ncondition: other", 7, "there is no search other"),
                refused("selection:\n  a: 1\ncondition: 1 of other*", 7, "no search is named like other*"),
                refused("selection:\n  a: 1\ncondition: 2 of them", 7, "a number from 1 to 1"),
                refused("selection:\n  a: 1\ncondition: selection | count() > 3", 7, "correlation"),
                refused("selection:\n  a: 1\ntimeframe: 5m\ncondition: selection", 7, "timeframe"),
                refused("selection:\n  a: 1", 5, "no condition"),
                refused("condition: selection", 5, "no search"));
    }

    private static Arguments refused(String detection, int line, String reason) {
        return Arguments.of(detection, line, reason);
    }

    @ParameterizedTest
    @MethodSource("refusedDetections")
    void refusesWithLineAndReason(String detection, int line, String reason) {
        RuleSet rules = new RuleSetReader().text("x.yml", rule(detection)).ruleSet();

        assertThat(rules.rules()).isEmpty();
        assertThat(rules.errors()).singleElement().satisfies(error -> {
            assertThat(error.file()).isEqualTo("x.yml");
            assertThat(error.line()).isEqualTo(line);
            assertThat(error.reason()).contains(reason);
        });
    }

    @Test
    void syntaxErrorHasItsLineAndLeavesEarlierDocuments() {
        RuleSet rules = new RuleSetReader()
                .text("x.yml", named("one", "a: 1") + "title: [broken\nlevel: high\n")
                .ruleSet();

        assertThat(rules.rules()).hasSize(1);
        assertThat(rules.errors()).singleElement().satisfies(error -> assertThat(error.line())
                .isGreaterThan(9));
    }

    @Test
    void oneBadDocumentLeavesTheOthers() {
        RuleSet rules = new RuleSetReader()
                .text("x.yml", named("one", "a|near: 1") + named("two", "a: 1") + "just a text")
                .ruleSet();

        assertThat(rules.rules()).extracting(rule -> rule.header().name()).containsExactly("two");
        assertThat(rules.errors()).hasSize(2);
    }

    @Test
    void headersAreChecked() {
        assertRefused("title: t\nid: 17\n" + rule("s: {a: 1}\ncondition: s").substring(9), "UUID");
        assertRefused(
                "title: t\nlevel: dire\n" + rule("s: {a: 1}\ncondition: s").substring(9), "one of informational");
        assertRefused("title: t\nlogsource: {}\ndetection: {s: {a: 1}, condition: s}", "category, product or service");
        assertRefused("title: t\ndetection: {s: {a: 1}, condition: s}", "no logsource");
        assertRefused("logsource: {product: x}\ndetection: {s: {a: 1}, condition: s}", "no title");
        assertRefused("title: t\nlogsource: {product: x}\n", "no detection");
        assertRefused("action: global\ntitle: t", "action");
    }

    @Test
    void namesAreUnique() {
        assertRefused(named("one", "a: 1") + named("one", "a: 2"), "another rule is called one too: x.yml:1");
    }

    @Test
    void equalTitlesWithoutIdsAreDistinguishedByTheirFiles() {
        String rule = rule("s: {a: 1}\ncondition: s");
        RuleSet rules = new RuleSetReader()
                .text("x/one.yml", rule)
                .text("y/two.yml", rule)
                .ruleSet();

        String title = rules.rules().get(0).header().title();
        assertThat(rules.errors()).isEmpty();
        assertThat(rules.rules()).extracting(each -> each.header().key()).containsExactly(title, title + " (two.yml)");
        assertRefused(rule + "---\n" + rule + "---\n" + rule, "give one of them another id, name or title");
    }

    @Test
    void aCorrelationThatGeneratesWinsAndTheOtherIsWarnedOf() {
        String body = "type: event_count\nrules: [one]\ntimespan: 5m\ncondition: {gte: 3}";
        RuleSet rules = new RuleSetReader()
                .text("a.yml", named("one", "a: 1"))
                .text("b.yml", correlation("silences", body))
                .text("c.yml", correlation("generates", body + "\ngenerate: true"))
                .ruleSet();

        assertThat(rules.rules()).singleElement().satisfies(rule -> assertThat(rule.alerts())
                .isTrue());
        assertThat(rules.warnings()).singleElement().satisfies(warning -> {
            assertThat(warning.file()).isEqualTo("b.yml");
            assertThat(warning.line()).isPositive();
            assertThat(warning.reason())
                    .contains("the rule one raises alerts itself")
                    .contains("c.yml:");
        });
    }

    @Test
    void onlyAReportOfFirstMatchesHasALevelForRepeatedOnes() {
        String body = "type: event_count\nrules: [one]\ntimespan: 5m\nrepeat_level: low\ncondition: ";
        RuleSet rules = new RuleSetReader()
                .text("x.yml", named("one", "a: x"))
                .text("y.yml", correlation("c", body + "{gte: 2}"))
                .text("z.yml", correlation("d", body.replace("low", "less") + "{gte: 1}"))
                .ruleSet();

        assertThat(rules.errors())
                .extracting(RuleError::reason)
                .containsExactly(
                        "only a correlation over one rule with gte: 1 has a repeat_level",
                        "a level is expected to be one of informational, low, medium, high, critical, found less");
    }

    @Test
    void aMessageNamesNoEntity() {
        RuleSetReader reader = new RuleSetReader(new RuleContext(Map.of(), new DatabaseFieldMapping()));
        String rule = named("one", "kind: crash");
        String body = "type: event_count\nrules: [one]\ntimespan: 5m\ncondition: {gte: 3}\n";
        RuleSet rules = reader.text("x.yml", rule)
                .text("y.yml", correlation("c", body + "group-by: [instance, message]"))
                .text("z.yml", correlation("d", body + "group-by: [what]\naliases: {what: {one: message}}"))
                .ruleSet();

        assertThat(rules.correlations()).isEmpty();
        assertThat(rules.errors()).hasSize(2).allSatisfy(error -> assertThat(error.reason())
                .contains("found message, whose values are sentences"));
    }

    @Test
    void correlationsOfWhatIsNotThereAreRefused() {
        String body = "type: event_count\nrules: [%s]\ntimespan: 5m\ncondition: {gte: 3}";

        assertRefused(correlation("c", body.formatted("nobody")), "there is no rule nobody");
        assertRefused(correlation("c", body.formatted("c")), "cycle");
        assertRefused(correlation("c", body.formatted("d")) + correlation("d", body.formatted("c")), "c → d → c");
        assertRefused(named("bad", "a|near: 1") + correlation("c", body.formatted("bad")), "there is no rule bad");
    }

    @Test
    void correlationsOnMoreLevelsThanTheJobHasStagesAreRefused() {
        String body = "type: event_count\nrules: [%s]\ntimespan: 5m\ncondition: {gte: 3}";
        String three = named("one", "a: 1")
                + correlation("c1", body.formatted("one"))
                + correlation("c2", body.formatted("c1"))
                + correlation("c3", body.formatted("c2"));
        assertThat(new RuleSetReader().text("x.yml", three).ruleSet().errors()).isEmpty();
        assertRefused(three + correlation("c4", body.formatted("c3")), "at most 3 levels, found 4");
    }

    @Test
    void correlationsAreChecked() {
        String rule = named("one", "a: 1");
        for (List<String> wrong : WRONG_CORRELATIONS) {
            assertRefused(rule + correlation("c", wrong.get(0)), wrong.get(1));
        }
    }

    @Test
    void aMeasuredFieldIsOneOfTheTaxonomy() {
        String rule = named("one", "user: root");
        String body = "type: value_sum\nrules: [one]\ntimespan: 5m\ncondition: {gte: 3, field: %s}";
        RuleContext context = new RuleContext(Map.of(), new DatabaseFieldMapping());
        assertThat(new RuleSetReader(context)
                        .text("x.yml", rule + correlation("c", body.formatted("rows_sent")))
                        .ruleSet()
                        .errors())
                .isEmpty();
        assertThat(new RuleSetReader(context)
                        .text("x.yml", rule + correlation("c", body.formatted("rows_snt")))
                        .ruleSet()
                        .errors())
                .singleElement()
                .satisfies(error -> assertThat(error.reason()).contains("no field rows_snt; the nearest is rows_sent"));
    }

    @Test
    void filtersOfUnknownRulesAreReported() {
        assertRefused(
                named("one", "a: 1") + "title: f\nlogsource: {category: database}\nfilter:\n  rules: [two]\n"
                        + "  s: {b: 1}\n  condition: not s\n",
                "there is no rule two");
    }

    private static void assertRefused(String yaml, String reason) {
        RuleSet rules = new RuleSetReader().text("x.yml", yaml).ruleSet();

        assertThat(rules.errors())
                .anySatisfy(error -> assertThat(error.reason()).contains(reason));
    }

    @Test
    void aFilterOfAFirstOccurrenceCorrelationFiltersItsRule() {
        String rules = named("each", "a: 1")
                + correlation(
                        "new",
                        "type: value_count\nrules: each\ngroup-by: [a, b]\noptional: [b]\ntimespan: 30d\n"
                                + "condition: {gte: 1, field: a}")
                + correlation("many", "type: event_count\nrules: each\ngroup-by: a\ntimespan: 1d\ncondition: {gte: 9}");
        String filter = "title: f\nlogsource:\n  category: database\nfilter:\n  rules: %s\n  selection:\n    a: 2\n"
                + "  condition: not selection\n";

        assertThat(new RuleSetReader()
                        .text("r.yml", rules + filter.formatted("new"))
                        .ruleSet()
                        .errors())
                .isEmpty();
        assertThat(new RuleSetReader()
                        .text("r.yml", rules + filter.formatted("many"))
                        .ruleSet()
                        .errors())
                .singleElement()
                .satisfies(error -> assertThat(error.reason()).contains("there is no rule many"));
    }

    @Test
    void onlyWhatGroupsIsOptional() {
        String rules = named("each", "a: 1")
                + correlation(
                        "new",
                        "type: event_count\nrules: each\ngroup-by: a\noptional: [b]\ntimespan: 30d\n"
                                + "condition: {gte: 1}");
        assertThat(new RuleSetReader().text("r.yml", rules).ruleSet().errors())
                .singleElement()
                .satisfies(error ->
                        assertThat(error.reason()).contains("optional is expected to name fields of group-by"));
    }
}
