package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

class FingerprinterTest {

    private final Fingerprinter fingerprinter = new Fingerprinter();

    private StatementShape shape(String statement) {
        byte[] bytes = ("##" + statement).getBytes(StandardCharsets.UTF_8);
        return fingerprinter.statement(bytes, 2, bytes.length);
    }

    /** The rules of docs/FINGERPRINT.md, a case each; {@code \n} stands for a line feed. */
    @ParameterizedTest
    @CsvFileSource(
            resources = "/fingerprint/rules.psv",
            delimiter = '|',
            quoteCharacter = '\u0001',
            maxCharsPerColumn = 99999)
    void everyRuleHasItsCase(String rule, String statement, String fingerprint) {
        assertThat(shape(statement.replace("\\n", "\n")).fingerprint()).as(rule).isEqualTo(fingerprint);
    }

    /** Ids of pt-query-digest 3.2.1 for the statements where its rules and ours agree. */
    @ParameterizedTest
    @CsvFileSource(resources = "/fingerprint/percona-ids.psv", delimiter = '|', quoteCharacter = '\u0001')
    void idsAreThoseOfPerconasTools(String statement, String id) {
        assertThat(shape(statement).queryIdText()).isEqualTo(id);
    }

    @Test
    void theIdIsOfTheWholeTextAndTheTextIsCut() {
        String columns = "abcdefgh, ".repeat(5_000);
        StatementShape one = shape("SELECT " + columns + "x FROM t");
        StatementShape other = shape("SELECT " + columns + "y FROM t");
        assertThat(one.fingerprint()).hasSize(Fingerprinter.LONGEST_TEXT).isEqualTo(other.fingerprint());
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
        Random random = new Random(3);
        for (int i = 0; i < 5_000; i++) {
            String once = shape(Statements.random(random, new ArrayList<>())).fingerprint();
            assertThat(shape(once).fingerprint()).isEqualTo(once);
        }
    }

    @Test
    void noLiteralSurvives() {
        Random random = new Random(5);
        for (int i = 0; i < 5_000; i++) {
            List<String> secrets = new ArrayList<>();
            String statement = Statements.random(random, secrets);
            String fingerprint = shape(statement).fingerprint();
            assertThat(secrets).as(statement).noneMatch(secret -> fingerprint.contains(secret.toLowerCase()));
        }
    }

    @Test
    void noLiteralSurvivesInACutStatement() {
        Random random = new Random(6);
        for (int i = 0; i < 5_000; i++) {
            List<String> secrets = new ArrayList<>();
            String statement = Statements.random(random, secrets);
            String fingerprint = shape(statement.substring(0, random.nextInt(statement.length() + 1)))
                    .fingerprint();
            assertThat(secrets).as(statement).noneMatch(secret -> fingerprint.contains(secret.toLowerCase()));
        }
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
            })
    void nothingIsLeftAfterAPassword(String statement) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        assertThat(shape(statement).fingerprint()).doesNotContain("cretpw");
        assertThat(Secrets.mayHold(bytes, 0, bytes.length)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PREPARE s FROM 'CREATE USER a IDENTIFIED BY ''x'''", "SELECT 1 /* password */",
                "CREATE TABLE f (a INT) ENGINE=FEDERATED CONNECTION='mysql://u:x@h/d/t'", "SELECT OLD_PASSWORD('x')",
                "INSERT INTO users (passwd) VALUES ('x')",
            })
    void textThatSpeaksOfPasswordsIsNotShown(String statement) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        assertThat(Secrets.mayHold(bytes, 0, bytes.length)).isTrue();
    }

    @Test
    void otherTextIs() {
        byte[] bytes = "SELECT pass, ident, CONNECTION_ID() FROM t".getBytes(StandardCharsets.UTF_8);
        assertThat(Secrets.mayHold(bytes, 0, bytes.length)).isFalse();
    }
}
