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
                "SELECT 'x\n1767323046000123,vm,a,b,localhost,4,1,QUERY,shop,\\'SELECT 1'",
                "SELECT 'x\n\"Query\",\"4_2026-11-21T02:50:36\",\"2026'",
                "SELECT \"x\n\"\"Table read\"\",\"\"4_2026-11-21T02:50:36\"\",\"",
                "SELECT 'x\nJan  2 03:04:05 db1 percona-audit: {}'",
                "SELECT 'x\n<190>Jan 12 03:04:05 db1 mysql-server_auditing: db1,root'",
                "SELECT 'x\n<14>1 2026-01-02T03:04:05Z db1 percona-audit 7 - - {}'",
                "SELECT 'x\n2026-11-21T02:44:18Z vm mysql-server_auditing: vm,root,localhost,4,1,QUERY,d'",
                "SELECT 'x\n{ \"timestamp\": \"2026-11-21 02:50:38\", \"id\": 1, \"class\": \"general\"'",
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
                "INSERT INTO t VALUES ('x\n4111111111111111,Smith,1,2,queued,x')",
                "INSERT INTO t VALUES ('x\n4111111111111111,Smith,1,B,X')",
                "INSERT INTO t VALUES ('x\n\"Query\",\"4\"')",
                "INSERT INTO t VALUES ('x\nJan  2 03:04:05 db1 sshd: audited')",
                "INSERT INTO t VALUES ('x\n2026-01-02T03:04:05Z db1 kernel: audit')",
                "INSERT INTO t VALUES ('x\n{ \"timestamp\": \"2026-11-21 02:50:38\", \"level\": 1}')",
                "INSERT INTO t VALUES ('x\nJan')",
                "INSERT INTO t VALUES ('x\n<1')",
                "INSERT INTO t VALUES ('x\n{\"audit\": 1}')"
            })
    void otherLinesDoNot(String statement) {
        assertThat(StatementFlags.of(statement)).isEmpty();
    }
}
