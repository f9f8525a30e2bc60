package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.tailrace.fingerprint.credential.PasswordStatements;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import io.tailrace.testing.PropertyTestBudget;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FingerprinterTest {

    private final Fingerprinter fingerprinter = new Fingerprinter();

    private NormalizedStatement shape(String statement) {
        byte[] bytes = ("##" + statement).getBytes(StandardCharsets.UTF_8);
        return fingerprinter.statement(bytes, 2, bytes.length);
    }

    /** The rules of docs/FINGERPRINT.md, one case each; {@code \n} represents a line feed. */
    @ParameterizedTest
    @CsvFileSource(
            resources = "/fingerprint/rules.psv",
            delimiter = '|',
            quoteCharacter = '\u0001',
            maxCharsPerColumn = 99999)
    void everyRuleHasItsCase(String rule, String statement, String fingerprint) {
        assertThat(shape(statement.replace("\\n", "\n")).fingerprint()).as(rule).isEqualTo(fingerprint);
    }

    /** Ids of pt-query-digest 3.2.1 for statements on which both sets of rules agree. */
    @ParameterizedTest
    @CsvFileSource(resources = "/fingerprint/percona-ids.psv", delimiter = '|', quoteCharacter = '\u0001')
    void idsAreThoseOfPerconasTools(String statement, String id) {
        assertThat(shape(statement).queryIdText()).isEqualTo(id);
    }

    /** Columns: statement, the fingerprint of Percona's tool or library, our fingerprint and the reason. */
    @ParameterizedTest
    @CsvFileSource(
            resources = {"/fingerprint/percona-differences.psv", "/fingerprint/go-mysql-differences.psv"},
            delimiter = '|',
            quoteCharacter = '\u0001')
    void fingerprintsDifferFromPerconasOnPurpose(String statement, String theirs, String ours) {
        assertThat(shape(statement).fingerprint()).isEqualTo(ours);
    }

    /** Of the numbers after a point that another point starts, the masker read none and did not continue. */
    @ParameterizedTest
    @ValueSource(strings = {"select ..1a", "select a..1b", "select a.-.1c", "select a.+.1e1x"})
    void aNumberAndAWordAfterTwoPointsAreRead(String statement) {
        byte[] bytes = ByteText.bytes(statement);
        String fingerprint = assertTimeoutPreemptively(
                Duration.ofMinutes(1),
                () -> new Fingerprinter().statement(bytes, 0, bytes.length).fingerprint());
        assertThat(fingerprint).startsWith("select ").doesNotContain("1");
    }

    @Test
    void aToolsCommentHidesNothingThatNoToolDoes() {
        for (String statement : List.of(
                "SELECT /*test.t:1/2*/ * FROM t INTO OUTFILE '/tmp/x'",
                "/*test.t:1/2*/ DROP DATABASE shop",
                "/*test.t:1/2*/ GRANT ALL ON *.* TO a",
                "SELECT /*test.t:1/2*/ Load_File('/etc/passwd')",
                "DELETE FROM customers /*test.t:1/2*/",
                "UPDATE t SET a = sys_exec('x') /*test.t:1/2*/",
                "SELECT /*test.t:1/2*/ 0 AS chunk_num, COUNT(*) AS cnt, password, BIT_XOR(CRC32(a)) AS crc FROM t",
                "SELECT /*test.t:1/2*/ 0 AS chunk_num, COUNT(*) AS cnt, BIT_XOR(sys_exec('x')) AS crc FROM t",
                "SELECT /*test.t:1/2*/ 0 AS chunk_num, COUNT(*) AS cnt, BIT_XOR(CRC32(a)) AS crc FROM t WHERE shop.f ('x')",
                "SELECT /*test.t:1/2*/ 0 AS chunk_num, COUNT(*) AS cnt, BIT_XOR(`f`(1)) AS crc FROM t",
                "SELECT /*test.t:1/2*/ 0 AS chunk_num, COUNT(*) AS cnt, BIT_XOR(CRC32(a)) AS crc FROM t"
                        + " WHERE (SELECT 1 FROM mysql.user)",
                "SELECT /*test.t:1/2*/ 0 AS chunk_num, COUNT(*) AS cnt, BIT_XOR(CRC32(a)) AS crc FROM t JOIN u",
                "SELECT /*!40001 SQL_NO_CACHE */ * FROM `t` UNION SELECT 1",
                "SELECT /*!40001 SQL_NO_CACHE */ * FROM `t` INTO OUTFILE '/tmp/x'")) {
            byte[] bytes = ByteText.bytes(statement);
            assertThat(new Fingerprinter().statement(bytes, 0, bytes.length).fingerprint())
                    .as(statement)
                    .isNotIn("percona-toolkit", "mysqldump");
        }
    }

    @Test
    void theIdIsOfTheWholeTextAndTheTextIsCut() {
        String columns = "abcdefgh, ".repeat(5_000);
        NormalizedStatement one = shape("SELECT " + columns + "x FROM t");
        NormalizedStatement other = shape("SELECT " + columns + "y FROM t");
        assertThat(one.fingerprint()).hasSize(Fingerprinter.MAX_TEXT_LENGTH).isEqualTo(other.fingerprint());
        assertThat(one.queryId()).isNotEqualTo(other.queryId());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select 1 union select 1",
                "(SELECT 1) UNION ALL (SELECT 2)",
                "WITH a AS (SELECT 1) SELECT * FROM a",
                "  \n\t# comment\nUPDATE t SET a=1",
                "/*!50000 ALTER */ TABLE t ADD a INT",
                "CALL p(1)",
                "USE a",
                ";",
                "",
            })
    void theVerbIsTheFirstWord(String statement) {
        assertThat(shape(statement).verb()).isIn("SELECT", "WITH", "UPDATE", "ALTER", "CALL", "USE", "");
    }

    @Test
    void aFingerprintIsItsOwnFingerprint() {
        Statements statements = new Statements(new Random(3), SqlMode.DEFAULT);
        for (int i = 0; i < 5_000; i++) {
            String once = shape(statements.next()).fingerprint();
            assertThat(shape(once).fingerprint()).isEqualTo(once);
        }
    }

    @Test
    void noLiteralSurvives() {
        assertNothingSurvives(
                Integer.getInteger("tailrace.statements", PropertyTestBudget.of(200_000, 1_000_000)),
                Long.getLong("tailrace.seed", 5));
    }

    @ParameterizedTest
    @ValueSource(longs = {6, 20261121, -1})
    @Tag("long")
    void noLiteralSurvivesLong(long seed) {
        assertNothingSurvives(10_000_000, seed);
    }

    /** Checks statements and each of their prefixes in every mode. */
    private static void assertNothingSurvives(int count, long seed) {
        Random random = new Random(seed);
        List<SqlMode> modes =
                List.of(SqlMode.DEFAULT, new SqlMode(true, false), new SqlMode(false, true), new SqlMode(true, true));
        List<Fingerprinter> fingerprinters =
                modes.stream().map(Fingerprinter::new).toList();
        int read = 0;
        for (int i = 0; read < count; i++) {
            int mode = i % modes.size();
            byte[] bytes = ("##" + new Statements(random, modes.get(mode)).next()).getBytes(StandardCharsets.UTF_8);
            for (int end = 2; end <= bytes.length && read < count; end++) {
                assertNoSecret(fingerprinters.get(mode), bytes, end);
                read++;
            }
        }
    }

    private static void assertNoSecret(Fingerprinter fingerprinter, byte[] bytes, int end) {
        NormalizedStatement shape = fingerprinter.statement(bytes, 2, end);
        String reported = shape.fingerprint() + shape.tables() + fingerprinter.tags(bytes);
        for (String secret : Statements.SECRETS) {
            if (reported.toLowerCase(Locale.ROOT).contains(secret)) {
                throw new AssertionError(
                        new String(bytes, 2, end - 2, StandardCharsets.UTF_8) + " has the fingerprint " + reported);
            }
        }
    }

    /** If the server uses another mode than assumed, too much may be masked, but no literal may be shown. */
    @Test
    void noLiteralSurvivesTheWrongMode() {
        Random random = new Random(7);
        for (int i = 0; i < PropertyTestBudget.of(5_000, 20_000); i++) {
            SqlMode actual = new SqlMode(random.nextBoolean(), random.nextBoolean());
            byte[] bytes = ("##" + new Statements(random, actual).next()).getBytes(StandardCharsets.UTF_8);
            assertNoSecret(fingerprinter, bytes, bytes.length);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "true | false | SELECT \"a1\", 'b' FROM \"t 2\" | select \"a?\", ? from \"t ?\" | t 2",
                "true | false | SELECT \"a\"\"b\" FROM s.\"t\"\"u\" WHERE c = 'it\\'s' | select \"a\"\"b\" from s.\"t\"\"u\" where c = ? | s.t\"u",
                "true | false | SELECT a FROM t WHERE b = \"c | select a from t where b = ? | t",
                "false | true | SELECT 'a\\', b FROM t WHERE c = '\\' | select ?, b from t where c = ? | t",
                "true | true | SELECT \"a\" FROM t WHERE c = 'x\\' AND d = 'y' | select \"a\" from t where c = ? and d = ? | t",
                "false | false | SELECT \"a\" FROM t | select ? from t | t",
            })
    void quotesDependOnTheMode(boolean ansi, boolean noEscapes, String statement, String fingerprint, String table) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        NormalizedStatement shape = new Fingerprinter(new SqlMode(ansi, noEscapes)).statement(bytes, 0, bytes.length);
        assertThat(shape.fingerprint()).isEqualTo(fingerprint);
        assertThat(shape.tablesRead()).containsExactly(table);
    }

    @Test
    void randomBytesHaveAFingerprint() {
        Random random = new Random(9);
        for (int i = 0; i < 5_000; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            assertThat(fingerprinter.statement(bytes, 0, bytes.length)).isNotNull();
        }
    }

    /** A client may send text that resembles a server's own, and a server may use a mode that is unknown. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "administrator command: Close stmt; | administrator command: Close stmt",
                "administrator command: Quit 'x' | administrator command: quit ?",
                "administrator command: 987654321 | administrator command: ?",
                "SELECT $$hunter 'x' two$$, $js$ a $$ b $js$ FROM t | select ?, ? from t",
                "SELECT a, $1, $b FROM t WHERE c = $$hunter | select a, $?, $b from t where c = ?",
                "SELECT $a$b, $c$d FROM t | select $a$b, $c$d from t",
                "SELECT 'a', hunter\\', 'b' | select ?",
                "SELECT 'a', \\N FROM t | select ?, \\n from t",
            })
    void textOfNoStatementIsMaskedToo(String statement, String fingerprint) {
        assertThat(shape(statement).fingerprint()).isEqualTo(fingerprint);
    }

    /** Any number of rows has one class, and the text of a statement with very many rows fits the cache. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO t (a, value) VALUES (1, 'a')%s ON DUPLICATE KEY UPDATE a = 1",
                "REPLACE INTO t SELECT (SELECT 1) + VALUE(a); INSERT INTO u VALUES (1, 'a')%s, (NOW(), 2), (1, 'a')",
                "INSERT INTO t VALUES(1, 'a') %s AS new",
                "INSERT INTO t VALUES ROW(1, 'a')%s",
                "SELECT a FROM t WHERE (a, b) IN ((1, 'a')%s)",
            })
    void anyNumberOfRowsIsOneClass(String statement) {
        for (String separator : List.of(",", ", ", " ,")) {
            NormalizedStatement few = shape(String.format(statement, (separator + "(3, 'c')").repeat(3)));
            NormalizedStatement many = shape(String.format(statement, (separator + "(3, 'c')").repeat(20_000)));
            assertThat(many.queryId()).isEqualTo(few.queryId());
            assertThat(many.tables()).isEqualTo(few.tables());
        }
        NormalizedStatement bulk = shape("INSERT INTO t VALUES (1, 'a')" + ",(2, 'b')".repeat(500_000));
        assertThat(bulk.tables().complete()).isTrue();
        assertThat(shape("INSERT INTO t VALUES (1, 'a')" + ",(2, 'b')".repeat(400_000)))
                .isSameAs(bulk);
    }

    @Test
    void theSameTextGivesTheSameShapeAgain() {
        assertThat(shape("SELECT 1")).isSameAs(shape("SELECT 'x'"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE USER a IDENTIFIED BY 's3cretpw'",
                "CREATE OR REPLACE USER IF NOT EXISTS a IDENTIFIED BY PASSWORD *s3cretpw",
                "ALTER USER a IDENTIFIED WITH x AS s3cretpw REQUIRE NONE",
                "GRANT ALL ON *.* TO a IDENTIFIED BY s3cretpw",
                "SET PASSWORD FOR a = PASSWORD(s3cretpw)",
                "SET PASSWORD = s3cretpw",
                "SET GLOBAL x_password = s3cretpw",
                "CHANGE MASTER TO MASTER_USER='u', MASTER_PASSWORD=s3cretpw",
                "START REPLICA USER='u' PASSWORD=s3cretpw",
                "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (PASSWORD s3cretpw)",
                "CREATE USER 'app'@'%' IDENTIFIED BY *****\\'s3cretpw\\'",
                "alter/*x*/user a identified by 's3cretpw",
                "SELECT 1; CREATE USER a IDENTIFIED BY s3cretpw",
                "CREATE DEFINER=r@h PROCEDURE p() BEGIN DECLARE a INT; ALTER USER a IDENTIFIED BY s3cretpw; END",
                "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET PASSWORD = s3cretpw",
                "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO ALTER USER a IDENTIFIED BY s3cretpw",
                "l: BEGIN NOT ATOMIC SELECT 1; IF a THEN SET PASSWORD = s3cretpw; END IF; END",
                "BEGIN NOT ATOMIC CASE WHEN (SELECT 1) THEN GRANT ALL ON *.* TO a IDENTIFIED BY s3cretpw; END CASE; END",
                "SET STATEMENT a=1 FOR CREATE USER a IDENTIFIED BY s3cretpw",
                "/*!50706 CREATE USER a IDENTIFIED BY s3cretpw */",
                "CLONE INSTANCE FROM u@h:3306 IDENTIFIED BY s3cretpw",
                "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD=s3cretpw",
                "START GROUP_REPLICATION USER='u', PASSWORD=s3cretpw",
                "PREPARE s FROM 'CREATE USER a IDENTIFIED BY s3cretpw'",
                "SELECT PASSWORD('s3cretpw')",
                "SELECT 1 /* ALTER USER a IDENTIFIED BY s3cretpw */",
                "SET GLOBAL wsrep_sst_auth='sst:s3cretpw'",
                "SET GLOBAL wsrep_sst_auth = sst:s3cretpw",
                "SET PERSIST_ONLY authentication_ldap_simple_bind_root_pwd=s3cretpw",
                "SET GLOBAL authentication_ldap_simple_bind_root_pwd='s3cretpw'",
                "SET @@GLOBAL.s3_secret_key := 12s3cretpw, s3_access_key=/**/s3cretpw",
                "SET STATEMENT max_statement_time=1 FOR SET GLOBAL s3_secret_key=s3cretpw",
                "/*!50000 SET PERSIST hashicorp_key_management_token=s3cretpw*/",
                "UPDATE mysql.global_priv SET priv=JSON_SET(priv,'$.authentication_string','*s3cretpw')",
                "INSERT INTO mysql.user(user,authentication_string) VALUES('a','*s3cretpw')",
                "INSERT INTO user VALUES('a','*0123456789abcdef0123456789ABCDEF01234567', 's3cretpw')",
                "INSERT INTO user VALUES('a','$A$005$s3cretpw')",
            })
    void nothingIsLeftAfterAPassword(String statement) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        assertThat(shape(statement).fingerprint()).doesNotContain("cretpw");
        assertThat(PasswordStatements.mayHold(bytes, 0, bytes.length)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PREPARE s FROM 'CREATE USER a IDENTIFIED BY ''x'''", "SELECT 1 /* password */",
                "CREATE TABLE f (a INT) ENGINE=FEDERATED CONNECTION='mysql://u:x@h/d/t'", "SELECT OLD_PASSWORD('x')",
                "INSERT INTO users (passwd) VALUES ('x')",
            })
    void textThatMentionsPasswordsMayHoldOne(String statement) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        assertThat(PasswordStatements.mayHold(bytes, 0, bytes.length)).isTrue();
    }

    /** What is not a word without quotes is masked as in any other assignment. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "SET GLOBAL s3_secret_key = 'x', b = c | set global s3_secret_key = ?, b = c",
                "SET GLOBAL s3_secret_key=x, b = c | set global s3_secret_key=?, b = c",
                "SET GLOBAL s3_secret_key = x y /* c */, b = c | set global s3_secret_key = ? , b = c",
                "SET STATEMENT s3_secret_key=x FOR SELECT a | set statement s?_secret_key=? for select a",
                "SET GLOBAL s3_secret_key = DEFAULT | set global s3_secret_key = default",
                "SET GLOBAL s3_secret_key = @v | set global s3_secret_key = @v",
                "SET GLOBAL s3_secret_key = concat('x', y) | set global s3_secret_key = concat(?, y)",
                "SET GLOBAL s3_secret_key = _utf8mb4'x' | set global s3_secret_key = ?",
                "SET GLOBAL innodb_ft_min_token_size = 4 | set global innodb_ft_min_token_size = ?",
                "SET @token = x | set @token = x",
                "SET STATEMENT a=1 FOR SELECT password, b FROM t WHERE token=b | set statement a=? for select password, b from t where token=b",
                "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.token = NEW.b | create trigger g before insert on t for each row set new.token = new.b",
                "UPDATE t SET token = b | update t set token = b",
            })
    void otherAssignmentsAreUnchanged(String statement, String fingerprint) {
        assertThat(shape(statement).fingerprint()).isEqualTo(fingerprint);
    }

    @Test
    void otherTextHoldsNoPassword() {
        byte[] bytes =
                "SELECT pass, ident, CONNECTION_ID(), book_authors, a*1234 FROM t".getBytes(StandardCharsets.UTF_8);
        assertThat(PasswordStatements.mayHold(bytes, 0, bytes.length)).isFalse();
    }
}
