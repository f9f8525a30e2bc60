package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Names are kept and literals are masked in every position that the grammar allows. */
class KeptNamesTest {

    private static final int ROUNDS = 40_000;

    private final Fingerprinter fingerprinter = new Fingerprinter();
    private final Fingerprinter previous = Fingerprinter.ofPreviousRules(SqlMode.DEFAULT);

    private NormalizedStatement shape(Fingerprinter of, String statement) {
        byte[] bytes = ByteText.bytes(statement);
        return of.statement(bytes, 0, bytes.length);
    }

    private String fingerprint(String statement) {
        return shape(fingerprinter, statement).fingerprint();
    }

    @Test
    void everyNameIsKeptAndNoSecret() {
        AccountStatements statements = new AccountStatements(new Random(17));
        int reported = 0;
        for (int i = 0; i < ROUNDS; i++) {
            AccountStatements.Statement statement = statements.next();
            String fingerprint = fingerprint(statement.text());
            assertNoSecret(statement.text(), fingerprint);
            if (statement.certain()) {
                statement.accounts().forEach(name -> assertThat(fingerprint)
                        .as(statement.text())
                        .contains(name));
                statement.names().forEach(name -> assertThat(fingerprint)
                        .as(statement.text())
                        .contains(name.toLowerCase(Locale.ROOT)));
                reported++;
            }
            assertThat(fingerprint(fingerprint)).as(statement.text()).isEqualTo(fingerprint);
        }
        assertThat(reported).isGreaterThan(ROUNDS / 3);
    }

    /** Statements are cut at each byte, and read in a mode that may differ from the server's. */
    @Test
    void noPrefixContainsASecret() {
        Random random = new Random(18);
        AccountStatements statements = new AccountStatements(random);
        for (int i = 0; i < 2_000; i++) {
            String statement = statements.next().text();
            Fingerprinter mode = new Fingerprinter(new SqlMode(false, random.nextBoolean()));
            for (int end = 1; end <= statement.length(); end++) {
                String beginning = statement.substring(0, end);
                assertNoSecret(beginning, fingerprint(beginning));
                assertNoSecret(beginning, shape(mode, beginning).fingerprint());
            }
        }
    }

    private static void assertNoSecret(String statement, String reported) {
        if (reported.toLowerCase(Locale.ROOT).contains(AccountStatements.SECRET)) {
            throw new AssertionError(statement + " has the fingerprint " + reported);
        }
    }

    /** Data that is stored under an old id can be found by it. */
    @Test
    void previousIdsAreThoseOfThePreviousRules() {
        AccountStatements accounts = new AccountStatements(new Random(19));
        Statements others = new Statements(new Random(20), SqlMode.DEFAULT);
        for (int i = 0; i < 20_000; i++) {
            String statement = i % 2 == 0 ? accounts.next().text() : others.next();
            byte[] bytes = ByteText.bytes(statement);
            NormalizedStatement shape = fingerprinter.statement(bytes, 0, bytes.length);
            assertThat(fingerprinter.previousId(shape, bytes, 0, bytes.length))
                    .as(statement)
                    .isEqualTo(shape(previous, statement).queryId());
        }
    }

    /** The unchanged rules of tailrace-1, whose ids are in tables. */
    @ParameterizedTest
    @CsvFileSource(
            resources = "/fingerprint/rules-tailrace-1.psv",
            delimiter = '|',
            quoteCharacter = '\u0001',
            maxCharsPerColumn = 99999)
    void previousRulesAreUnchanged(String rule, String statement, String fingerprint) {
        assertThat(shape(previous, statement.replace("\\n", "\n")).fingerprint())
                .as(rule)
                .isEqualTo(fingerprint);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT c1 FROM sbtest17 WHERE id = 5",
                "INSERT INTO orders_2024 VALUES (1, 'a')",
                "UPDATE db2.t1 SET a = 'x' WHERE charset = 'utf8'",
                "DELETE FROM t1",
                "CREATE TEMPORARY TABLE tmp_123 (a INT)",
                "SAVEPOINT sp_12",
                "EXECUTE stmt_12",
                "SET autocommit=0",
                "SET @a1 = 5",
                "CALL shop.p1(1)",
                "EXPLAIN SELECT * FROM t1",
            })
    void ordinaryStatementsKeepTheirIds(String statement) {
        NormalizedStatement shape = shape(fingerprinter, statement);
        assertThat(shape.queryId()).isEqualTo(shape(previous, statement).queryId());
        assertThat(shape.isRenamed()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CALL shop.p1(1, @a, b + 2) | call shop.p1",
                "CALL p1 (1) | call p1",
                "CALL P1(1, SLEEP(5)) | call p1(?, sleep(?))",
                "CALL p1((SELECT c1 FROM mysql.user LIMIT 2, 1)) | call p1((select c? from mysql.user limit ?))",
                "CALL p1(@@version) | call p1(@@version)",
                "CALL p1(1); DROP TABLE t1 | call p1; drop table t1",
                "CALL p1; SELECT SLEEP(5) FROM t1 | call p1; select sleep(?) from t?",
            })
    void argumentsThatEvaluateAndStatementsThatFollowArePartOfACall(String statement, String fingerprint) {
        NormalizedStatement shape = shape(fingerprinter, statement);
        assertThat(shape.fingerprint()).isEqualTo(fingerprint);
        NormalizedStatement before = shape(previous, statement);
        assertThat(shape.isRenamed()).isEqualTo(shape.queryId() != before.queryId());
        byte[] bytes = ByteText.bytes(statement);
        assertThat(fingerprinter.previousId(shape, bytes, 0, bytes.length)).isEqualTo(before.queryId());
    }

    /** All spellings of an account have one class; other names have other classes. */
    @Test
    void spellingsOfAnAccountAreOneClass() {
        for (String account :
                List.of("'app1'@'%'", "\"app1\"@\"%\"", "`app1`@`%`", "app1@'%'", "'app1' @ '%'", "app1/**/@'%'")) {
            assertThat(fingerprint("GRANT SELECT ON shop.* TO " + account))
                    .isEqualTo("grant select on shop.* to `app1`@`%`");
        }
        assertThat(fingerprint("DROP USER 'App'@'LOCALHOST'")).isEqualTo("drop user `App`@`localhost`");
    }

    /** Text that cannot be a name with certainty is masked. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "GRANT ALL ON *.* TO 'x | grant all on *.* to ?",
                "CREATE USER 'a', 'b | create user ?",
                "GRANT ALL ON *.* TO 'u'@'h' 'pw' | grant all on *.* to `u`@`h` ?",
                "GRANT ALL ON *.* TO 'u'@'h' 'pw', 'v' | grant all on *.* to `u`@`h` ?, ?",
                "CREATE USER 'a\\'@'h' IDENTIFIED BY 'pw', 'b'@'h' | create user ?",
                "CREATE USER x'6162', N'a', 0x41, NULL | create user ?, ?, ?, ?",
                "CREATE USER a IDENTIFIED BY 'x' 'y', b | create user `a` identified ?",
                "CREATE USER a IDENTIFIED BY 'pa'ss', 'b' | create user `a` identified ?",
                "CREATE USER a IDENTIFIED BY 'x\\', 'b' | create user `a` identified ?",
                "CREATE USER a IDENTIFIED BY 'x' /*!50000 , b */ | create user `a` identified ?",
                "CREATE USER a IDENTIFIED BY *****'x', b | create user `a` identified ?",
                "CREATE USER a IDENTIFIED BY PASSWORD *6C89, b | create user `a` identified ?",
                "CREATE USER a IDENTIFIED BY 'x', b IDENTIFIED BY y, c | create user `a` identified ?",
                "CREATE USER a ATTRIBUTE 'x', 'y' | create user `a` attribute ?, ?",
                "SET PASSWORD = 'x' | set password ?",
                "SET PASSWORD FOR = 'x' | set password ?",
                "SET PASSWORD FOR 'a' 'x' | set password for `a` ?",
                "SET role = 'x' | set role = ?",
                "SET GLOBAL init_connect='SET NAMES utf8mb4' | set global init_connect=?",
                "SET character_set_client = 'utf8' | set character_set_client = ?",
                "SET NAMES 'hunter2' | set names ?",
                "SELECT a FROM t WHERE collation = 'utf8' | select a from t where collation = ?",
                "CHANGE MASTER TO MASTER_USER='u', MASTER_HOST='h' | change master to master_user=?, master_host=?",
                "START SLAVE USER='u' PASSWORD='p' | start slave user=? password ?",
                "CREATE SERVER s OPTIONS (USER 'u', PASSWORD 'p') | create server s options ?",
                "USE db1; SELECT a1 FROM t1 WHERE b = 'x' | use db1; select a? from t? where b = ?",
                "CREATE TABLE t1 (a INT DEFAULT 1.5a) | create table t1 (a int default ? a)",
            })
    void possibleLiteralsAreMasked(String statement, String fingerprint) {
        assertThat(fingerprint(statement)).isEqualTo(fingerprint);
    }
}
