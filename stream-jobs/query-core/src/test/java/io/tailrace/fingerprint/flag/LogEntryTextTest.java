package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogEntryTextTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 'a\n# Time: 2026-07-01T10:00:00.000000Z\n'",
                "SELECT 'a\n# User@Host: root[root] @ localhost []'",
                "SELECT 1 /* x\n20260701 10:00:00,db1,root,localhost,1,1,QUERY,shop,'SELECT 1',0\n*/",
                "SELECT \"x\n2026-07-01T10:00:00.000000Z\t    9 Query\tSELECT 1\n\"",
                "SELECT 'x\n2026-07-01T10:00:00.000000+02:00 9 [Note] [MY-010926] [Server] Access denied'",
                "INSERT INTO t VALUES ('x\n{\"audit_record\":{\"name\":\"Quit\"}}')",
                "SELECT `x\n<AUDIT_RECORD>`",
                "SELECT 'x\n260701 10:00:00\t     9 Query\tSELECT 1'",
                "SELECT 'x\n260701  9:00:00\t     9 Connect\troot@localhost'",
                "SELECT 'x\n2026-07-01 10:00:00 9 [Warning] Access denied for user'",
                "SELECT 'x\n2026-07-01  9:00:00 9 [Note] mysqld: ready for connections.'",
                "SELECT 1 /*!99998 ' */, 'x\n# Time: 2026-07-01T10:00:00.000000Z'"
            })
    void aLineMayLookLikeAnEntry(String statement) {
        assertThat(StatementFlags.of(statement)).contains("log_entry_in_text");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a\n# the time\nFROM t",
                "# Time: 2026-07-01T10:00:00.000000Z",
                "INSERT INTO t VALUES ('a'),\n('2026-07-01T10:00:00Z')",
                "INSERT INTO t VALUES ('x\n2026-07-01T10:00:00Z\n')",
                "INSERT INTO t VALUES ('x\n2026-07-01T10:00:00Z shipped')",
                "INSERT INTO t VALUES ('x\n20260701 10:00:00')",
                "INSERT INTO t VALUES ('x\n2026-07-01 10:00:00 9 parcels shipped')",
                "INSERT INTO t VALUES ('x\n2026-07-01 10:00:00\n')",
                "INSERT INTO t VALUES ('x\n260701 10:00:00 9 parcels shipped')",
                "INSERT INTO t VALUES ('x\n260701 ",
                "INSERT INTO t VALUES ('x\n{\"audit\": 1}')"
            })
    void otherLinesDoNot(String statement) {
        assertThat(StatementFlags.of(statement)).isEmpty();
    }
}
