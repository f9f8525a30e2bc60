package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredInjectionTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UPDATE staff SET name = 'x'', role=''admin'' WHERE login=''tmp''-- ' WHERE id = 9",
                "INSERT INTO customers (name) VALUES ('Ann\\' UNION SELECT login, hash FROM users-- ')",
                "INSERT INTO customers (name) VALUES ('a'') union all select 1,2,3#')",
                "INSERT INTO users (login) VALUES ('admin''-- ')",
                "INSERT INTO users (login) VALUES ('admin''#')",
                "REPLACE INTO t (a) VALUES (1, 'x'' or ''1''=''1')",
                "UPDATE t SET a = 'x\\'; DROP TABLE users; -- ' WHERE id = 4",
                "UPDATE t SET a = \"x\"\" or 1=1-- \" WHERE id = 4",
                "INSERT INTO t (a) VALUES ('x''||(select hash from users limit 1)||''')"
            })
    void textsThatContinueAnotherStatementAreFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).contains("injection_stored");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO t (a) VALUES ('O''Brien')",
                "INSERT INTO t (a) VALUES ('it\\'s -- or isn\\'t')",
                "INSERT INTO t (a) VALUES ('SELECT * FROM t WHERE a = ''x'' -- as in the book')",
                "INSERT INTO t (a) VALUES ('WHERE a = ''x'' OR b = ''y'' AND c > 4')",
                "INSERT INTO t (a) VALUES ('say ''yes'' or ''no''')",
                "INSERT INTO t (a) VALUES ('the ''union'' select committee')",
                "INSERT INTO t (a) VALUES ('''quoted'' text')",
                "INSERT INTO t (a) VALUES ('{\"a\": \"it''s, b=4\"}')",
                "INSERT INTO t (a) VALUES ('x'''), ('--')",
                "UPDATE t SET a = 'alert(''x''); update the page' WHERE id = 4",
                "SELECT a FROM t WHERE a = 'x'' or 1=1-- '"
            })
    void otherTextsAreNot(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("injection_stored");
    }
}
