package io.tailrace.detection.sigma.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.reader.RuleText;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlPatternLintTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "statement|contains: ' sql_no_cache * from '",
                "statement|contains: 'select * from'",
                "statement|contains: 'select *'",
                "statement|startswith: 'select *'",
                "statement: 'select *'",
                "statement|contains: 'count(*)'",
                "statement|contains: 'grant all privileges on *.* to'",
                "statement|contains: 't.*'",
                "statement|contains: '/*!'",
                "statement|contains: 'a */'",
                "statement|endswith: '*/'",
                "statement|contains: 'select a, * from'",
                "statement: ['select a from t', 'select * from t']",
                "statement|contains|all: ['union', 'count(*)']"
            })
    void aStarOfSqlIsDoubtful(String search) {
        assertThat(warning(search)).hasValueSatisfying(reason -> assertThat(reason)
                .isEqualTo("* matches any characters here; to match the character itself, write \\*"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "statement: 'set global general_log = ?'",
                "statement|startswith: 'select ?, ?'",
                "statement|contains: 'sleep(?)'",
                "statement|endswith: 'values(?+)'"
            })
    void aLiteralsMarkIsDoubtful(String search) {
        assertThat(warning(search)).hasValueSatisfying(reason -> assertThat(reason)
                .isEqualTo("? matches any one character here; to match the placeholder of a literal, write \\?"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"statement|contains: 'count\\(\\*\\)'", "statement|contains: 'a\\b'"})
    void aBackslashOfARegularExpressionIsDoubtful(String search) {
        assertThat(warning(search))
                .hasValueSatisfying(reason -> assertThat(reason).startsWith("a backslash is a literal character"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "statement|re: '^select * from t'",
                "statement|re: '^select sql_no_cache * from'",
                "statement|re: 'grant all on *.* to'",
                "statement|re: '/*!'"
            })
    void aStarOfSqlInARegularExpressionIsDoubtful(String search) {
        assertThat(warning(search))
                .hasValueSatisfying(reason -> assertThat(reason).startsWith("in a regular expression * repeats"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "statement: 'drop table*'",
                "statement: 'drop table *'",
                "statement: '*mysql.user*'",
                "statement: '* mysql.user'",
                "statement: 'create * function *'",
                "statement: 'create*function *soname*'",
                "statement: 'colo?r'",
                "statement|contains: 'sql_no_cache \\* from'",
                "statement|contains: 'count(\\*)'",
                "statement|contains: 'on \\*.\\*'",
                "statement|contains: 'sleep(\\?)'",
                "statement|contains: 'a\\\\*b'",
                "statement|re: '^select .* from t'",
                "statement|re: '^select \\* from t'",
                "statement|re: '\\bload_file\\b[`*/ ]*\\('",
                "statement|re: 'into[ */!?m]*outfile'",
                "statement|re: 'a, *b *= *\\?'",
                "statement|re: ' on \\*\\.\\*( |$)'",
                "statement: null",
                "message|contains: 'select * from'",
                "program: 'mysql*'",
                "user: '?'"
            })
    void intendedPatternsCauseNoWarning(String search) {
        assertThat(warning(search)).isEmpty();
    }

    @Test
    void theWarningHasAPositionAndTheRuleIsCompiled() {
        String yaml = RuleText.rule(
                "selection:\n  a: 1\n  statement|contains:\n    - x\n    - ' * from '\n" + "condition: selection");

        RuleSet rules = new RuleSetReader().text("r.yml", yaml).ruleSet();

        assertThat(rules.rules()).hasSize(1);
        assertThat(rules.errors()).isEmpty();
        assertThat(rules.warnings()).singleElement().satisfies(warning -> {
            assertThat(warning.file()).isEqualTo("r.yml");
            assertThat(warning.line()).isEqualTo(9);
        });
    }

    private static Optional<String> warning(String search) {
        String yaml = RuleText.rule("selection:\n  " + search + "\ncondition: selection");
        RuleSet rules = new RuleSetReader().text("r.yml", yaml).ruleSet();
        assertThat(rules.errors()).isEmpty();
        return rules.warnings().stream().findFirst().map(RuleError::reason);
    }
}
