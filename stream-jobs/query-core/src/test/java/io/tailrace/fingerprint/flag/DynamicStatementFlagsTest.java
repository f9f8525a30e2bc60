package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Flags of prepared statements, of texts of user variables, and of texts that functions assemble. */
class DynamicStatementFlagsTest {

    @Test
    void preparedTextsAreFlaggedByKind() {
        assertThat(StatementFlags.of("PREPARE s FROM 'GRANT ALL ON *.* TO x'")).containsExactly("dynamic_grant");
        assertThat(StatementFlags.of("EXECUTE IMMEDIATE 'drop  table t'")).containsExactly("dynamic_drop_table");
        assertThat(StatementFlags.of("EXECUTE IMMEDIATE CONCAT('SELECT 1 INTO OUTFILE ', @f)"))
                .containsExactly("dynamic_select", "dynamic_file");
        assertThat(StatementFlags.of(
                        "SET @q := 'CREATE DEFINER=`a`@`b` EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM t'"))
                .containsExactly("dynamic_create_event");
        assertThat(StatementFlags.of("SET @a=1, @q=0x53454c4543542031"))
                .containsExactly("dynamic_select", "dynamic_hex");
        assertThat(StatementFlags.of("/*!50000 PREPARE s FROM 'SET GLOBAL general_log=0'*/"))
                .containsExactly("dynamic_set_global");
        assertThat(StatementFlags.of("SELECT 1; SET @q=x'64726f702075736572206262'; PREPARE s FROM @q"))
                .containsExactly("dynamic_drop_user", "dynamic_hex");
        assertThat(StatementFlags.of("PREPARE s FROM 'SELECT a FROM t WHERE b=?'"))
                .containsExactly("dynamic_select");
    }

    @Test
    void otherTextsHaveNoFlags() {
        assertThat(StatementFlags.of("SET @a = 'drop in'")).isEmpty();
        assertThat(StatementFlags.of("INSERT INTO posts VALUES ('DROP TABLE t')"))
                .isEmpty();
        assertThat(StatementFlags.of("SELECT a FROM t WHERE b = 'GRANT ALL ON x TO y'"))
                .isEmpty();
        assertThat(StatementFlags.of("SET NAMES 'utf8'")).isEmpty();
        assertThat(StatementFlags.of("PREPARE s FROM @q")).isEmpty();
        assertThat(StatementFlags.of("SET @a = 0x00ff")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET @a = CONCAT('DR', 'OP DATABASE hr')",
                "SET @a = REVERSE('rh ESABATAD PORD')",
                "SET @a = UNHEX('44524F50204441544142415345206872')",
                "PREPARE s FROM FROM_BASE64('RFJPUCBEQVRBQkFTRSBocg==')",
                "EXECUTE IMMEDIATE CONCAT_WS(' ', 'DROP', 'DATABASE', 'hr')",
                "SET @a = CONCAT(CHAR(68, 82), CONCAT('OP ', 'DATABASE'), ' hr')",
                "SET @a = REPLACE(REPLACE('DR#P %', '#', 'O'), '%', 'DATABASE hr')"
            })
    void functionsOfLiteralsAreComputed(String statement) {
        assertThat(StatementFlags.of(statement)).contains("dynamic_drop_database", "dynamic_assembled");
    }

    /** Servers read the text of a literal as a statement, with its comments, escapes and parts. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "PREPARE s FROM 'DROP/**/DATABASE shop'",
                "PREPARE s FROM '/**/DROP DATABASE shop'",
                "EXECUTE IMMEDIATE '/*!50000 DROP DATABASE shop*/'",
                "EXECUTE IMMEDIATE '/*M! DROP*/ DATABASE shop'",
                "EXECUTE IMMEDIATE '-- x\nDROP # y\n DATABASE shop'",
                "EXECUTE IMMEDIATE '/*/ x */ DROP DATABASE shop'",
                "EXECUTE IMMEDIATE '--\u00a0x\nDROP DATABASE shop'",
                "EXECUTE IMMEDIATE 'DROP\\nDATABASE shop'",
                "EXECUTE IMMEDIATE '\\DROP DATABASE shop'",
                "EXECUTE IMMEDIATE 'DROP\u00a0DATABASE shop'",
                "SET @a='DROP ' 'DATABASE shop'",
                "SET@a='DROP DATABASE shop'",
                "SET/**/@a='DROP DATABASE shop'",
                "SET @a := 'DR' \"OP DATABASE shop\"",
                "SELECT 'DROP DATABASE shop' INTO @a",
                "SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, (_utf8mb4 'DROP DATABASE shop') INTO @a, @b",
                "SELECT a, CONCAT('DROP ', 'DATABASE shop') FROM t INTO @x, @b",
                "SET @a=N'DROP DATABASE shop'",
                "SET @a=_utf8mb4'DROP DATABASE shop'",
                "SET @a = _utf8mb4 'DROP DATABASE shop'",
                "SET @a=CAST('DROP DATABASE shop' AS CHAR(64))",
                "SET @a=CONVERT('DROP DATABASE shop' USING utf8mb4)",
                "SET @a=CONVERT('DROP DATABASE shop', CHAR)",
                "SET @a=REPLACE('DRxOP DATAxBASE shop','x','')",
                "SET @a=CAST(CONCAT('DROP ' 'DATA', _utf8mb4 'BASE', ' shop') AS CHAR)",
                "SET @a='1', @b='2', @c='3', @d='4', @e='5', @f='6', @g='7', @h='8', @i='DROP DATABASE shop'",
            })
    void theTextIsReadAsServersDo(String statement) {
        assertThat(StatementFlags.of(statement)).contains("dynamic_drop_database");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 'DROP DATABASE shop', a FROM t",
                "INSERT INTO t VALUES (1, 'DROP DATABASE shop')",
                "SELECT 'DROP DATABASE shop' INTO OUTFILE 'x'",
                "SELECT 'a', 'b' INTO @a",
                "SET @a='/* DROP DATABASE */'",
                "SET @a='/*!99999 DROP DATABASE shop */'",
                "SET @a='x -- y' 'DROP DATABASE shop'",
            })
    void otherTextsAreNoStatements(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("dynamic_drop_database");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET @a = CONCAT('%', 'x')",
                "SET @a = CHAR(10)",
                "SET @a = CONCAT(@b, 'DROP DATABASE hr')",
                "SET @a = CONCAT('a', CONCAT('b', CONCAT('c', CONCAT('d', CONCAT('e', CONCAT('f'))))))",
                "SET @a = CONCAT('DROP DATABASE hr'",
                "SET @a = UNHEX('zz')",
                "SET @a = FROM_BASE64('?')"
            })
    void otherTextsAreNotAssembled(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("dynamic_assembled");
    }
}
