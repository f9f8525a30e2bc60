package io.tailrace.tags;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.Fingerprinter;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class StatementTagsTest {

    private final Fingerprinter fingerprinter = new Fingerprinter();

    private StatementTags tags(String statement) {
        byte[] bytes = ("##" + statement).getBytes(StandardCharsets.UTF_8);
        fingerprinter.statement(bytes, 2, bytes.length);
        return fingerprinter.tags(bytes);
    }

    /** Columns: rule, statement, tags, trace and span. */
    @ParameterizedTest
    @CsvFileSource(resources = "/tags/tags.psv", delimiter = '|', quoteCharacter = '\u0001')
    void everyRuleHasItsCase(String rule, String statement, String tags, String trace, String span) {
        StatementTags found = tags(statement);
        assertThat(new TreeMap<>(found.tags())).as(rule).hasToString(tags);
        assertThat(found.traceId()).isEqualTo(trace == null ? "" : trace);
        assertThat(found.spanId()).isEqualTo(span == null ? "" : span);
    }

    @Test
    void manyCommentsKeepTheFirstAndTheLast() {
        String many = "/* x */ ".repeat(50);
        assertThat(tags("/*action='a'*/" + many + "SELECT 1 " + many + "/*job='b'*/")
                        .tags())
                .containsOnlyKeys("action", "job");
    }

    @Test
    void longValuesAndManyPairsAreNoTags() {
        assertThat(tags("SELECT 1 /*action='" + "a".repeat(300) + "',job='b'*/").tags())
                .containsOnlyKeys("job");
        assertThat(tags("SELECT 1 /*" + "a=b,".repeat(70) + "job='b'*/").tags()).isEmpty();
    }

    @Test
    void tagsAreThoseOfTheLatestStatement() {
        assertThat(tags("SELECT 1 /*job='b'*/").tags()).hasSize(1);
        assertThat(tags("SELECT 2")).isSameAs(StatementTags.NONE);
        tags("SELECT 1 /*job='b'*/");
        byte[] quit = "administrator command: Quit".getBytes(StandardCharsets.UTF_8);
        fingerprinter.administratorCommand(quit, 0, quit.length);
        assertThat(fingerprinter.tags(quit)).isSameAs(StatementTags.NONE);
    }
}
