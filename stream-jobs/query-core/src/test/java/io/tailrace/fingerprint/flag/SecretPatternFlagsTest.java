package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretPatternFlagsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT id FROM t WHERE token LIKE '%' AND used = 0",
                "SELECT id FROM t WHERE r.`reset_token` LIKE '%%%%'",
                "SELECT id FROM t WHERE pin LIKE '____'",
                "SELECT id FROM t WHERE (password_hash LIKE 'a%')",
                "SELECT id FROM t WHERE secret LIKE BINARY '%'",
                "SELECT id FROM t WHERE token/**/LIKE/**/'%'",
                "SELECT id FROM t WHERE token LIKE 0x25",
                "SELECT id FROM t WHERE id = 1 OR a = 2 AND token LIKE '%'"
            })
    void wildcardsThatMatchMostSecretsAreFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).contains("secret_wildcard");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT id FROM t WHERE token LIKE '86f5cd9df8f349135d6c8bba122ec9d6d4ad4eaa' AND used = 0",
                "SELECT id FROM t WHERE token LIKE 'ab'",
                "SELECT id FROM t WHERE token LIKE 'abc%'",
                "SELECT id FROM t WHERE token LIKE '\\%'",
                "SELECT id FROM t WHERE token LIKE ''",
                "SELECT id FROM t WHERE token LIKE ?",
                "SELECT id FROM t WHERE token = '%'",
                "SELECT id FROM t WHERE option_name LIKE '%' AND token_count LIKE '%' AND spin LIKE '%'",
                "SELECT id FROM t WHERE name LIKE '%a%' OR token LIKE '%a%'",
                "SELECT id FROM t WHERE (token LIKE '%a%') OR name LIKE '%a%'",
                "SHOW VARIABLES LIKE '%'"
            })
    void otherComparisonsAreNot(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("secret_wildcard");
    }
}
