package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredScriptTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE settings SET value = 'Hi<script src=\"https://e.example/x.js\"></script>' WHERE name = 'banner'",
                "INSERT INTO t (a) VALUES ('<SCRIPT>alert(1)</SCRIPT>')",
                "insert into t (a) values (1, '<img src=x onerror=\"fetch(1)\">')",
                "REPLACE INTO t (a) VALUES ('<svg/onload=alert(1)>')",
                "UPDATE t SET a = \"<body class=\\\"x\\\" onpageshow='f()'>\" WHERE id = 1",
                "UPDATE t SET url = 'javascript:alert(1)' WHERE id = 1",
                "UPDATE t SET a = '<a href=\" JavaScript:alert(1)\">x</a>' WHERE id = 1"
            })
    void textsThatBrowsersRunAreFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).contains("script_stored");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE pages SET body = '<h2>Price</h2><p class=\"on\">a < b</p><a href=\"/contact\">c</a>' WHERE id = 4",
                "INSERT INTO t (a) VALUES ('I like javascript: it runs everywhere')",
                "INSERT INTO t (a) VALUES ('a <b> on = off')",
                "INSERT INTO t (a) VALUES ('if a<b and once=1')",
                "INSERT INTO t (a) VALUES ('<scripture>Genesis</scripture>')",
                "INSERT INTO t (a) VALUES ('&lt;script&gt;')",
                "UPDATE t SET a = 1 WHERE b<c AND on_hold = 1",
                "SELECT a FROM t WHERE a LIKE '%<script>%'"
            })
    void otherTextsAreNot(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("script_stored");
    }
}
