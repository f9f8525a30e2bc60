package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LargeLimitTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a FROM t LIMIT 1000000",
                "SELECT a FROM t limit\n100000;",
                "SELECT a FROM t WHERE b = 5 LIMIT 20,100000",
                "SELECT a FROM t LIMIT 100000 OFFSET 3",
                "SELECT a FROM (SELECT 1)LIMIT 18446744073709551615",
                "SELECT a FROM t LIMIT 1000000 /* app:web */",
                "SELECT/**/a/**/FROM/**/t/**/LIMIT/**/500000",
                "SELECT a FROM t LIMIT/**/5/**/,/**/500000/**/ /**/",
                "SELECT a FROM t LIMIT/**/500000/**/OFFSET/**/5"
            })
    void manyRowsAreFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).contains("large_limit", "very_large_limit");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a FROM t LIMIT 10000, 50",
                "SELECT a FROM t LIMIT 50 OFFSET 10000",
                "SELECT a FROM t LIMIT 50/**/OFFSET/**/10000"
            })
    void rowsThatAreSkippedAreFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).contains("large_offset").doesNotContain("large_limit");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SELECT a FROM t LIMIT 10000", "SELECT a FROM t LIMIT 0, 99999"})
    void largePagesAreFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).contains("large_limit").doesNotContain("very_large_limit");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a FROM t LIMIT 9999",
                "SELECT a FROM t LIMIT 100000, 50",
                "SELECT a FROM t LIMIT 50 OFFSET 100000",
                "SELECT a FROM t LIMIT ?",
                "SELECT a FROM t WHERE upper_limit = 1000000",
                "SELECT a FROM t WHERE b > 1000000",
                "SELECT a FROM t WHERE (a, b) IN ((1, 1000000))",
                "SELECT no_limit 1000000",
                "SELECT 'x limit 1000000'",
                "1000000",
                "LIMIT",
                "SELECT a FROM t LIMIT /* 500000 */",
                "/**/1000000",
                "SELECT a FROM t LIMIT 99999999999999999999999999999"
            })
    void otherNumbersAreNot(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("large_limit", "very_large_limit");
    }
}
