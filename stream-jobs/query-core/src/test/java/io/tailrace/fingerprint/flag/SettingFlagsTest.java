package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingFlagsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '¦',
            quoteCharacter = '"',
            value = {
                "SET GLOBAL slow_query_log=0 ¦ slow_query_log=off",
                "SET GLOBAL slow_query_log = 1 ¦ slow_query_log=on",
                "SET GLOBAL slow_query_log = ON ¦ slow_query_log=on",
                "SET GLOBAL slow_query_log = 'off' ¦ slow_query_log=off",
                "set @@global.`general_log` := TRUE ¦ general_log=on",
                "SET/*!50000 GLOBAL*/ general_log=0 ¦ general_log=off",
                "/*!50000 SET GLOBAL general_log=0 */ ¦ general_log=off",
                "SET STATEMENT max_statement_time=1 FOR SET GLOBAL general_log = @x ¦ general_log=other",
                "SET GLOBAL slow_query_log=1, log_output='FILE' ¦ slow_query_log=on log_output=other",
                "SET GLOBAL log_output='NONE' ¦ log_output=off",
                "SET GLOBAL log_output='FILE,None' ¦ log_output=off",
                "SET GLOBAL log_output=5 ¦ log_output=off",
                "SET GLOBAL log_output=2 ¦ log_output=other",
                "SET GLOBAL log_output=0 ¦ log_output=off",
                "SET GLOBAL log_output='' ¦ log_output=off",
                "SET GLOBAL long_query_time=0.5 ¦ long_query_time=e0",
                "SET GLOBAL min_examined_row_limit=1000 ¦ min_examined_row_limit=e3",
                "SET GLOBAL long_query_time=1000 ¦ long_query_time=e3",
                "SET GLOBAL max_connections=2000 ¦ max_connections=e3",
                "SET GLOBAL binlog_expire_logs_seconds=60*60 ¦ binlog_expire_logs_seconds=other",
                "SET GLOBAL expire_logs_days = -1 ¦ expire_logs_days=other",
                "SET GLOBAL max_password_errors = 4294967295 ¦ max_password_errors=e9",
                "ALTER TABLE a.b ENCRYPTION='N' ¦ encryption=off",
                "ALTER TABLESPACE ts1 Encryption 'y' ¦ encryption=on",
                "alter/**/schema hr default/**/encryption = \"n\" ¦ encryption=off",
                "ALTER TABLE a ADD COLUMN encryption CHAR(1) DEFAULT 'N' ¦ ''",
                "SET GLOBAL log_slow_rate_limit=1000000 ¦ log_slow_rate_limit=e6",
                "SET GLOBAL log_slow_filter='admin' ¦ log_slow_filter=other",
                "SET GLOBAL log_slow_filter='' ¦ log_slow_filter=off",
                "SET SESSION long_query_time=1e6 ¦ long_query_time=e6",
                "SET SESSION long_query_time=1.5E+3 ¦ long_query_time=e3",
                "SET PERSIST component_connection_control.failed_connections_threshold=0 ¦ "
                        + "component_connection_control_failed_connections_threshold=off",
                "SET GLOBAL read_only = FALSE ¦ read_only=off",
                "SET GLOBAL read_only = DEFAULT ¦ read_only=default",
                "SET GLOBAL read_only = 'DEFAULT' ¦ read_only=other",
                "SET GLOBAL event_scheduler = @x ¦ event_scheduler=other",
                "SET @ro = (@@global.read_only = 1) ¦ ''",
                "SET @x = IF(@@global.read_only = 1, 'a', 'b'), GLOBAL read_only = 0 ¦ read_only=off",
                "SET @x = CASE WHEN @@global.read_only = 1 THEN 2 END ¦ ''",
                "SET @x = 1; SET GLOBAL read_only = 1 ¦ read_only=on",
                "SET GLOBAL audit_log_policy = 'ALL' ¦ audit_log_policy=on",
                "SET GLOBAL audit_log_policy = 'NONE' ¦ audit_log_policy=off",
                "SET GLOBAL audit_log_policy = 'LOGINS' ¦ audit_log_policy=other",
                "SET GLOBAL audit_log_policy = 1 ¦ audit_log_policy=other",
                "SET GLOBAL audit_log_policy = 0 ¦ audit_log_policy=other",
                "SET GLOBAL audit_log_include_accounts = '' ¦ audit_log_include_accounts=off",
                "SET GLOBAL audit_log_include_accounts = NULL ¦ audit_log_include_accounts=default",
                "SET GLOBAL audit_log_exclude_accounts = NULL ¦ audit_log_exclude_accounts=off",
                "SET GLOBAL server_audit_excl_users = '' ¦ server_audit_excl_users=off",
                "SET GLOBAL server_audit_excl_users = 'none' ¦ server_audit_excl_users=other",
                "SET GLOBAL innodb_encrypt_tables = FORCE ¦ innodb_encrypt_tables=on",
                "SET SESSION system_versioning_alter_history = 'ERROR' ¦ system_versioning_alter_history=off",
                "SET SESSION system_versioning_alter_history = KEEP ¦ system_versioning_alter_history=on",
                "SET GLOBAL general_log_file = '/var/log/mysql/general.log' ¦ general_log_file=log",
                "SET GLOBAL slow_query_log_file = 'slow-2026-01-01.log' ¦ slow_query_log_file=log",
                "SET GLOBAL slow_query_log_file = '/var/log/slow.log.1' ¦ slow_query_log_file=log",
                "SET GLOBAL general_log_file = '/var/www/html/x.php' ¦ general_log_file=other",
                "SET GLOBAL general_log_file = '/var/lib/x.php.log' ¦ general_log_file=other",
                "SET GLOBAL general_log_file = '/srv/web/x.log' ¦ general_log_file=other",
                "SET GLOBAL general_log_file = '/root/.ssh/x.log' ¦ general_log_file=other",
                "SET GLOBAL general_log_file = '/srv/http/x.log' ¦ general_log_file=other",
                "SET GLOBAL general_log_file = '.htaccess' ¦ general_log_file=other",
                "SET GLOBAL general_log_file = 0x2f746d702f78 ¦ general_log_file=other",
                "SET GLOBAL general_log_file = DEFAULT ¦ general_log_file=default",
                "SET GLOBAL read_only = ? ¦ read_only=other",
                "SET PERSIST validate_password.policy = 'LOW' ¦ validate_password_policy=off",
                "SET sql_log_bin=0 ¦ sql_log_bin=off",
                "SET @old = @@SESSION.sql_log_bin ¦ ''",
                "SET NAMES 'utf8' ¦ ''",
                "SET autocommit=1 ¦ ''",
                "SET @slow_query_log = 0 ¦ ''",
                "SELECT @@global.read_only = 1 ¦ ''",
                "UPDATE performance_schema.setup_consumers SET enabled='YES' WHERE name='NO' ¦ enabled=on",
                "UPDATE performance_schema.threads SET instrumented='NO', history='YES' ¦ instrumented=off history=on",
                "UPDATE t SET enabled='YES' WHERE id=1 ¦ ''",
                "UNINSTALL COMPONENT 'file://component_validate_password' ¦ uninstalls_password_check",
                "UNINSTALL COMPONENT 'file://component_query_attributes' ¦ uninstalls_other",
                "UNINSTALL SONAME 'server_audit' ¦ uninstalls_audit",
                "UNINSTALL PLUGIN server_audit ¦ ''"
            })
    void assignedValuesAreFlagged(String statement, String flags) {
        assertThat(String.join(" ", StatementFlags.of(statement))).isEqualTo(flags.replace("''", ""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SET GLOBAL general_log = 1 = 0|general_log=other",
                "SET GLOBAL general_log = 1 & 0|general_log=other",
                "SET GLOBAL general_log = NOT 1|general_log=other",
                "SET GLOBAL log_output = 'NO' 'NE'|log_output=other",
                "SET GLOBAL general_log = 1, a = 0|general_log=on",
                "SET GLOBAL general_log = 0; SELECT 1|general_log=off"
            })
    void aValueOfSeveralTokensIsUnknown(String statement, String flag) {
        assertThat(StatementFlags.of(statement)).containsExactly(flag);
    }
}
