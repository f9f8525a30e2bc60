package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnionRowFlagsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT id, name FROM t WHERE a=1 UNION SELECT 0,'All' ORDER BY 1",
                "SELECT id, name FROM t UNION ALL (SELECT -1 AS id, '(none)' AS name FROM dual)",
                "SELECT a FROM t UNION DISTINCT SELECT 'Ä la carte'",
                "SELECT a, b FROM t UNION SELECT NULL, '---' LIMIT 5",
                "SELECT a, b FROM t UNION SELECT NULL, 'n/a'",
                "SELECT a, b FROM t UNION SELECT 0, 'k. A.'",
                "SELECT a, b FROM t UNION SELECT ?, ?",
                "SELECT a, b FROM t UNION SELECT 0, '<none>'",
                "SELECT a, b FROM t UNION SELECT '1234567890123456', 'km/h or mph'",
                "SELECT a FROM (SELECT a FROM t UNION SELECT 'Total') x",
                "SELECT a FROM t UNION SELECT 'All' UNION SELECT b FROM u UNION SELECT 'None'"
            })
    void rowsWithALabelAreFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).containsExactly("union_with_label");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a FROM t WHERE id=-1 UNION SELECT NULL, NULL",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 1, 2, 3",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 1, 'a'",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 'q1x2', 3",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 0x416c6c, 3",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 0, 'All', version()",
                "SELECT a FROM t WHERE id=-1 UNION SELECT NULL, 'ab'",
                "SELECT a FROM t WHERE id=-1 UNION SELECT NULL, '/etc/x'",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 0, 'All' FROM users",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 0, 'All' UNION SELECT 1, 2",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 'All', pw FROM users UNION SELECT 0, 'All'",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 1, 'admin', '5f4dcc3b5aa765d61d8327deb882cf99'",
                "SELECT a FROM t WHERE id=-1 UNION SELECT '$2y$10$abcdefghijklmnopqrstuv', 'admin'",
                "SELECT a FROM t WHERE id=-1 UNION SELECT '../../../etc/passwd'",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 'abc', '<script>alert(1)</script>'",
                "SELECT a FROM t WHERE id=-1 UNION SELECT 'http://203.0.113.9/x'",
                "SELECT a FROM t UNION SELECT a FROM u",
                "SELECT 0 AS id, 'All' AS name UNION SELECT id, name FROM t",
                "SELECT ' union select 0, ', 'All' FROM t"
            })
    void otherRowsHaveNoFlag(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("union_with_label");
    }
}
