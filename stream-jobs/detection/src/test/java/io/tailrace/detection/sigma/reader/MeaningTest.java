package io.tailrace.detection.sigma.reader;

import static io.tailrace.detection.sigma.reader.RuleText.rule;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.FieldMapping;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Verifies the semantics of rules, value by value. */
class MeaningTest {

    private static final LogSource DATABASE = new LogSource("database", "mysql", "audit");

    @ParameterizedTest
    @CsvSource(
            delimiter = '¦',
            quoteCharacter = '`',
            value = {
                // search ¦ text of the field a ¦ whether it matches
                "a: root ¦ ROOT ¦ true",
                "a: root ¦ root1 ¦ false",
                "a: Größe ¦ GRÖSSE ¦ false",
                "a: größe ¦ GRÖßE ¦ true",
                "a: 'ro*' ¦ root ¦ true",
                "a: '*oo*' ¦ root ¦ true",
                "a: 'r??t' ¦ root ¦ true",
                "a: 'r?t' ¦ root ¦ false",
                "a: 'r?t' ¦ r😀t ¦ true",
                "a: 'r*o*t' ¦ r--o--t ¦ true",
                "a: 'r*o*t' ¦ r--t--o ¦ false",
                "a: 'r\\*t' ¦ r*t ¦ true",
                "a: 'r\\*t' ¦ rxt ¦ false",
                "a: 'r\\\\*t' ¦ r\\xt ¦ true",
                "a: 'r\\xt' ¦ r\\xt ¦ true",
                "a: 'r\\' ¦ r\\ ¦ true",
                "a: 'r\\?' ¦ r? ¦ true",
                "a: '' ¦ `` ¦ true",
                "a: '' ¦ x ¦ false",
                "a: '*' ¦ `` ¦ true",
                "a: null ¦ x ¦ false",
                "a: [root, admin] ¦ Admin ¦ true",
                "a: 10 ¦ 10 ¦ true",
                "a: 10 ¦ 10.0 ¦ true",
                "a: 0x0a ¦ 10 ¦ true",
                "a: '10' ¦ 10 ¦ true",
                "a: 18446744073709551615 ¦ 18446744073709551614 ¦ false",
                "a: true ¦ True ¦ true",
                "a: true ¦ 1 ¦ true",
                "a: false ¦ 1 ¦ false",
                "a|contains: oo ¦ ROOT ¦ true",
                "a|contains: 'o*' ¦ root ¦ true",
                "a|contains: '' ¦ `` ¦ true",
                "a|contains: 12 ¦ 5123 ¦ true",
                "a|startswith: ro ¦ root ¦ true",
                "a|startswith: oo ¦ root ¦ false",
                "a|endswith: ot ¦ root ¦ true",
                "a|contains|all: [r, t] ¦ root ¦ true",
                "a|contains|all: [r, x] ¦ root ¦ false",
                "a|cased: root ¦ Root ¦ false",
                "a|contains|cased: oo ¦ root ¦ true",
                "a|re: '^r.+t$' ¦ root ¦ true",
                "a|re: 'o' ¦ root ¦ true",
                "a|re: 'ROOT' ¦ root ¦ false",
                "a|re|i: 'ROOT' ¦ root ¦ true",
                "a|re: 'r\\\\t' ¦ r\\t ¦ true",
                "a|re: '(.){200,}' ¦ root ¦ false",
                "a|cidr: 10.0.0.0/8 ¦ 10.1.2.3 ¦ true",
                "a|cidr: 10.0.0.0/8 ¦ 11.1.2.3 ¦ false",
                "a|cidr: 10.0.0.0/8 ¦ ::ffff:10.1.2.3 ¦ true",
                "a|cidr: 10.1.2.3 ¦ 10.1.2.3 ¦ true",
                "a|cidr: 10.0.0.0/8 ¦ localhost ¦ false",
                "a|cidr: 'fe80::/10' ¦ fe80::1 ¦ true",
                "a|cidr: 'fe80::/10' ¦ fec0::1 ¦ false",
                "a|windash|contains: ' -p' ¦ mysql /p ¦ true",
                "a|windash|contains: ' -p' ¦ mysql –p ¦ true",
                "a|windash|contains: ' -a-b' ¦ mysql /a/b ¦ false",
                "a|contains|windash: '-p' ¦ x -P ¦ true",
                "a|gt: 5 ¦ 6 ¦ true",
                "a|gt: 5 ¦ 5 ¦ false",
                "a|gte: 5 ¦ 5 ¦ true",
                "a|lt: 5 ¦ 4.5 ¦ true",
                "a|lte: 5 ¦ many ¦ false",
                "a|neq: root ¦ admin ¦ true",
                "a|neq: [root, admin] ¦ admin ¦ false",
                "a|exists: true ¦ x ¦ true",
                "a|exists: false ¦ x ¦ false",
                "a|base64: secret ¦ c2VjcmV0 ¦ true",
                "a|base64offset|contains: secret ¦ eHNlY3JldHh4 ¦ true",
                "a|base64offset|contains: secret ¦ eHhzZWNyZXR4 ¦ true",
                "a|wide|base64offset|contains: ab ¦ YQBiAA== ¦ true",
                "a|utf16|base64: a ¦ //5hAA== ¦ true",
                "a|hour: 3 ¦ 2026-11-21T05:30:00+02:00 ¦ true",
                "a|year: 2026 ¦ yesterday ¦ false",
                "a|fieldref: b ¦ other ¦ true",
                "a|fieldref|startswith: b ¦ Other one ¦ true",
                "a|fieldref|cased: b ¦ Other ¦ false",
                "a|fieldref: c ¦ other ¦ false",
            })
    void valueMatches(String search, String text, boolean expected) {
        DetectionEvent event = event(Map.of("a", text == null ? "" : text, "b", "other"));

        assertThat(matches("s:\n  " + search + "\ncondition: s", event)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "x and y, false",
        "x or y, true",
        "not y, true",
        "not y and y or x, true",
        "not (y or x), false",
        "x and not y, true",
        "1 of them, true",
        "all of them, false",
        "any of x*, true",
        "all of x*, true",
        "2 of x*, true",
        "2 of z*, true",
        "3 of z*, false",
        "all of *, false",
        "1 of _hidden, true",
        "1 of y*, false",
    })
    void conditionMatches(String condition, boolean expected) {
        String searches = "x: {a: 1}\nx2: {a|gt: 0}\ny: {a: 2}\nz1: {a: 1}\nz2: {a: 1}\nz3: {a: 7}\n_hidden: {a: 1}\n";

        assertThat(matches(searches + "condition: " + condition, event(Map.of("a", "1"))))
                .isEqualTo(expected);
    }

    @Test
    void operatorsMayBeUpperCase() {
        assertThat(matches("x: {a: 1}\ny: {a: 2}\ncondition: NOT y AND x", event(Map.of("a", "1"))))
                .isTrue();
    }

    @Test
    void conditionsOfAListAreAlternatives() {
        assertThat(matches("x: {a: 1}\ny: {a: 2}\ncondition: [y, x]", event(Map.of("a", "1"))))
                .isTrue();
    }

    @Test
    void absentFieldIsNullAndMatchesNothingElse() {
        DetectionEvent event = event(Map.of("b", "1"));

        assertThat(matches("s: {a: null}\ncondition: s", event)).isTrue();
        assertThat(matches("s: {a: ''}\ncondition: s", event)).isFalse();
        assertThat(matches("s: {a: '*'}\ncondition: s", event)).isFalse();
        assertThat(matches("s: {a|neq: 1}\ncondition: s", event)).isTrue();
        assertThat(matches("s: {a: 1}\ncondition: not s", event)).isTrue();
        assertThat(matches("s: {a|exists: false}\ncondition: s", event)).isTrue();
    }

    @Test
    void mapsAreAllAndListsOfMapsAny() {
        DetectionEvent event = event(Map.of("a", "1", "b", "2"));

        assertThat(matches("s: {a: 1, b: 2}\ncondition: s", event)).isTrue();
        assertThat(matches("s: {a: 1, b: 3}\ncondition: s", event)).isFalse();
        assertThat(matches("s: [{a: 7}, {a: 1, b: 2}]\ncondition: s", event)).isTrue();
        assertThat(matches("s: [{a: 7}, two]\ncondition: s", event(Map.of("c", "number two"))))
                .isTrue();
    }

    @Test
    void keywordsAreFoundInAnyField() {
        DetectionEvent event = event(Map.of("a", "DROP TABLE t", "b", "alice"));

        assertThat(matches("k: [nothing, 'drop table']\ncondition: k", event)).isTrue();
        assertThat(matches("k:\n  '|all': [drop, ALICE]\ncondition: k", event)).isTrue();
        assertThat(matches("k:\n  '|all': [drop, bob]\ncondition: k", event)).isFalse();
        assertThat(matches("k:\n  '|re': '^al.*e$'\ncondition: k", event)).isTrue();
    }

    @Test
    void anyValueOfAFieldMayMatch() {
        DetectionEvent event = DetectionEvent.builder("1", 0, DATABASE)
                .texts("table", List.of("shop.orders", "mysql.user"))
                .build();

        assertThat(matches("s: {table: mysql.user}\ncondition: s", event)).isTrue();
        assertThat(matches("s: {table|all: [mysql.user, shop.orders]}\ncondition: s", event))
                .isTrue();
    }

    @Test
    void placeholdersAreReplacedByTheirValues() {
        RuleSet rules = new RuleSetReader(new RuleContext(Map.of("admins", List.of("root", "dba*")), FieldMapping.ANY))
                .text("x.yml", rule("s: {a|expand: '%admins%@localhost'}\ncondition: s"))
                .ruleSet();

        assertThat(rules.errors()).isEmpty();
        assertThat(rules.rules().get(0).condition().matches(event(Map.of("a", "dba7@localhost"))))
                .isTrue();
    }

    @Test
    void filterIsAddedToTheRulesItNames() {
        String filter = "title: f\nlogsource: {category: database}\nfilter:\n  rules: %s\n  s: {b: backup}\n"
                + "  condition: not s\n";
        String yaml = RuleText.named("one", "a: 1") + RuleText.named("two", "a: 1");

        RuleSet one = new RuleSetReader()
                .text("x.yml", yaml + filter.formatted("[one]"))
                .ruleSet();
        RuleSet all = new RuleSetReader()
                .text("x.yml", yaml + filter.formatted("any"))
                .ruleSet();

        DetectionEvent event = event(Map.of("a", "1", "b", "backup"));
        assertThat(one.rules())
                .extracting(rule -> rule.condition().matches(event))
                .containsExactly(false, true);
        assertThat(all.rules())
                .extracting(rule -> rule.condition().matches(event))
                .containsExactly(false, false);
    }

    private static boolean matches(String detection, DetectionEvent event) {
        RuleSet rules = new RuleSetReader().text("x.yml", rule(detection)).ruleSet();
        assertThat(rules.errors()).isEmpty();
        return rules.rules().get(0).condition().matches(event);
    }

    private static DetectionEvent event(Map<String, String> fields) {
        DetectionEvent.Builder builder = DetectionEvent.builder("1", 0, DATABASE);
        fields.forEach(builder::text);
        return builder.build();
    }
}
