package io.tailrace.audit.mariadb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lengths at which MariaDB 10.11 cut statements at several values of server_audit_query_log_limit. */
class StatementLimitTest {

    @ParameterizedTest
    @ValueSource(ints = {1022, 1023, 1024, 1999, 2000, 2047, 2048, 4095, 4096, 9999, 10_000, 65_534, 65_535, 65_536})
    void aStatementOfTheLimitMayBeCut(int length) {
        assertThat(MariaDbAuditParser.mayBeCut(length)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 40, 255, 256, 999, 1000, 1021, 1025, 1500, 1998, 2001, 2045, 2049, 65_533, 65_537})
    void othersAreComplete(int length) {
        assertThat(MariaDbAuditParser.mayBeCut(length)).isFalse();
    }

    @Test
    void fewLongStatementsHaveSuchALength() {
        long lengths = IntStream.range(2_001, 65_000)
                .filter(MariaDbAuditParser::mayBeCut)
                .count();
        assertThat(lengths).isLessThan(270);
    }
}
