package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdministratorValueFlagsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO wp_usermeta (user_id, meta_key, meta_value) VALUES (9, 'wp_capabilities', 'a:1:{s:13:\"administrator\";b:1;}')",
                "UPDATE `wp_usermeta` SET `meta_value` = 'a:1:{s:13:\\\"administrator\\\";b:1;}' WHERE umeta_id = 7",
                "UPDATE mdl_config SET value = CONCAT(value, ',4711') WHERE name = 'siteadmins'",
                "UPDATE mdl_config SET value = '2,9' WHERE name = \"siteadmins\"",
                "UPDATE auth_user SET is_superuser = 1 WHERE id = 5",
                "UPDATE users u SET u.`isAdmin` = TRUE, name = 'x' WHERE id = 5",
                "INSERT INTO users (login, is_admin, mail) VALUES ('a', 0, 'b'), (CONCAT('c', 'd'), '1', 'e')",
                "INSERT INTO users SET login = 'eve', role = 'admin'",
                "REPLACE INTO user_roles VALUES (5, 'Super_Admin')",
                "INSERT INTO oc_group_user (gid, uid) VALUES ('admin', 'eve')",
                "INSERT INTO member (mail, roles) VALUES ('x@y.z', '[\"ROLE_SUPER_ADMIN\"]')",
                "INSERT INTO users (id, role) VALUES (5, 'user') ON DUPLICATE KEY UPDATE role = 'admin'",
                "insert into users (id, superuser_access) select 5, 1 from (select 1 a) b on duplicate key update superuser_access=1"
            })
    void valuesThatMakeAnAdministratorAreFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).contains("administrator_value");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO wp_usermeta (user_id, meta_key, meta_value) VALUES (9, 'wp_capabilities', 'a:1:{s:10:\"subscriber\";b:1;}')",
                "INSERT INTO wp_usermeta (user_id, meta_key, meta_value) VALUES (9, 'admin_color', 'fresh')",
                "UPDATE users SET last_seen = 5 WHERE role = 'admin'",
                "UPDATE auth_user SET is_superuser = 0, is_staff = 1 WHERE id = 5",
                "UPDATE users SET is_admin = 'f', b = 1 WHERE is_admin = 1",
                "INSERT INTO users (login, is_admin, mail) VALUES ('a', 0, 'b'), ('c', FALSE, 'e')",
                "INSERT INTO users (login, role) VALUES ('admin@x.org', 'editor')",
                "INSERT INTO posts (author, title) VALUES ('admin', 'administrator')",
                "INSERT INTO user_copy (id, mail) SELECT id, mail FROM users WHERE role = 'admin'",
                "SELECT id FROM users WHERE role = 'admin'",
                "UPDATE mdl_config SET value = '5' WHERE name = 'theme'",
                "INSERT INTO users (is_admin"
            })
    void otherValuesAreNot(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("administrator_value");
    }
}
