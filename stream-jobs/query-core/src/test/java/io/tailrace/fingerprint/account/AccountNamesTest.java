package io.tailrace.fingerprint.account;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AccountNamesTest {

    private final Fingerprinter fingerprinter = new Fingerprinter();

    private List<String> accounts(String statement) {
        byte[] bytes = ByteText.bytes(statement);
        NormalizedStatement shape = fingerprinter.statement(bytes, 0, bytes.length);
        return fingerprinter.accounts(shape, bytes, 0, bytes.length, "me");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "GRANT ALL ON *.* TO 'a'@'%' | a@%",
                "GRANT ALL PRIVILEGES ON `to`.* TO `a`@`10.0.0.%` WITH GRANT OPTION | a@10.0.0.%",
                "grant select (a, b), update on shop.t to a@localhost, b, 'c' | a@localhost b c",
                "GRANT ALL ON *.* TO a@db1.example.com IDENTIFIED BY 'x' | a@db1.example.com",
                "GRANT ALL ON *.* TO a@'10.0.0.1' | a@10.0.0.1",
                "GRANT ALL ON *.* TO _a@'h', 'b' @ 'h' | _a@h b@h",
                "GRANT ALL ON *.* TO ''@'%' | @%",
                "GRANT EXECUTE ON PROCEDURE d.p TO \"a\"@\"h\" | a@h",
                "GRANT r1, 'r2'@'%' TO a@h, b@h WITH ADMIN OPTION | a@h b@h",
                "GRANT PROXY ON 'root'@'%' TO 'a'@'h' | a@h",
                "GRANT SELECT ON d.* TO a AS b WITH ROLE r1, r2 | a",
                "GRANT SUPER ON *.* TO CURRENT_USER, a | me a",
                "GRANT SUPER ON *.* TO CURRENT_USER() | me",
                "GRANT r TO PUBLIC | PUBLIC",
                "/*!50000 GRANT*/ ALL ON *.* /* to x */ TO/**/'a'@/**/'h' | a@h",
                "REVOKE ALL PRIVILEGES, GRANT OPTION FROM a@h, b@h | a@h b@h",
                "REVOKE IF EXISTS r FROM a@h IGNORE UNKNOWN USER | a@h",
                "REVOKE ADMIN OPTION FOR r FROM a | a",
                "CREATE USER a | a",
                "CREATE OR REPLACE USER 'it''s'@'h' IDENTIFIED BY 'p', b@h IDENTIFIED BY 'q' | it's@h b@h",
                "CREATE USER IF NOT EXISTS a@h IDENTIFIED WITH 'caching_sha2_password' AS '<secret>' | a@h",
                "CREATE USER a@h IDENTIFIED BY <secret>, b@h IDENTIFIED BY <secret> REQUIRE SSL | a@h b@h",
                "CREATE USER a@h IDENTIFIED BY *****, b@h IDENTIFIED BY ***** | a@h b@h",
                "CREATE USER a IDENTIFIED VIA ed25519 USING PASSWORD('x,y') OR unix_socket, b | a b",
                "CREATE USER a IDENTIFIED WITH x BY RANDOM PASSWORD, b IDENTIFIED BY RANDOM PASSWORD | a b",
                "CREATE USER a IDENTIFIED BY 'x' DEFAULT ROLE r, s | a",
                "CREATE USER `b``t`@h, 'a@b'@h | `b``t`@h `a@b`@h",
                "CREATE ROLE IF NOT EXISTS r, s@h | r s@h",
                "CREATE ROLE r WITH ADMIN a | r",
                "ALTER USER IF EXISTS a@h IDENTIFIED BY 'n' REPLACE 'o' RETAIN CURRENT PASSWORD, b@h | a@h b@h",
                "ALTER USER a@h ADD 2 FACTOR IDENTIFIED WITH x, b@h ACCOUNT UNLOCK | a@h b@h",
                "ALTER USER a@h DEFAULT ROLE r1, r2 | a@h",
                "ALTER USER USER() IDENTIFIED BY 'x' | me",
                "DROP USER IF EXISTS a@h,b@h | a@h b@h",
                "DROP ROLE r | r",
                "GRANT ALL ON*.*TO'a'@'h',b | a@h b",
                "CREATE USER'a'IDENTIFIED BY'x' | a",
                "CREATE USER a IDENTIFIED WITH p AS 0x78, b | a b",
                "RENAME USER a@h TO b@h, c TO d | a@h b@h c d",
                "SET PASSWORD FOR 'a'@'h' = PASSWORD('x') | a@h",
                "SET PASSWORD FOR a TO RANDOM | a",
                "SET PASSWORD = 'x' | me",
                "SET @x = 1, PASSWORD FOR a = 'x' | a",
                "SET DEFAULT ROLE r, s TO a@h, b@h | a@h b@h",
                "SET DEFAULT ROLE r FOR a@h | a@h",
                "SET DEFAULT ROLE r | me",
                "SET STATEMENT max_statement_time=1 FOR GRANT ALL ON *.* TO a | a",
                "SELECT 1; CREATE USER a IDENTIFIED BY 'x; DROP USER z'; DROP USER b | a b",
                "PREPARE s FROM 'GRANT ALL ON *.* TO ''a''@''h''' | a@h",
                "EXECUTE IMMEDIATE 'CREATE\\tUSER\\na@h' | a@h",
                "EXECUTE IMMEDIATE \"CREATE USER 'a'@'h' IDENTIFIED BY 'p'\" | a@h",
                "SET @q := 'CREATE USER a IDENTIFIED BY \"p\"' | a",
            })
    void accountsThatAStatementConcerns(String statement, String expected) {
        assertThat(accounts(statement)).containsExactly(expected.split(" "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 'GRANT ALL ON *.* TO a'",
                "INSERT INTO grants VALUES ('GRANT ALL ON *.* TO a')",
                "UPDATE t SET password = 'x'",
                "SET @password = 'x', NAMES 'utf8'",
                "SET ROLE r",
                "CREATE TABLE user (role INT)",
                "ALTER TABLE user ADD role INT",
                "CREATE DEFINER = 'a'@'b' PROCEDURE p() BEGIN SELECT 1; GRANT ALL ON *.* TO a; END",
                "GRANT ALL ON *.* TO 'mall",
                "GRANT ALL ON *.* TO",
                "CREATE USER",
                "DROP USER 123",
                "SET STATEMENT a=1 FOR",
                ""
            })
    void statementsThatConcernNoAccount(String statement) {
        assertThat(accounts(statement)).isEmpty();
    }

    /** Passwords are also safe if a server's masking, a typing error or a cut has left quotes that do not match. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE USER a IDENTIFIED BY 'SECRET'",
                "CREATE USER a IDENTIFIED BY 'SECRET",
                "CREATE USER a IDENTIFIED BY 'x', SECRET', b IDENTIFIED BY 'y'",
                "CREATE USER a IDENTIFIED BY *****x', 'SECRET', 'SECRET'",
                "CREATE USER a IDENTIFIED BY pa,SECRET",
                "CREATE USER a IDENTIFIED BY !pa,SECRET",
                "CREATE USER a IDENTIFIED BY =pa,SECRET",
                "CREATE USER a IDENTIFIED BY (pa),SECRET",
                "CREATE USER a IDENTIFIED BY PASSWORD !pa,SECRET",
                "CREATE USER a IDENTIFIED BY ,SECRET",
                "CREATE USER a IDENTIFIED BY pa'ss,SECRET",
                "CREATE USER a IDENTIFIED BY PASSWORD pa,SECRET",
                "CREATE USER a IDENTIFIED BY `pa,SECRET",
                "CREATE USER a IDENTIFIED BY \"x\\\",SECRET\"",
                "CREATE USER a IDENTIFIED BY 'x''y', SECRET'",
                "CREATE USER a IDENTIFIED BY 'x\\', SECRET, ', 'b'@'h",
                "ALTER USER a IDENTIFIED BY 'x' REPLACE 'y,SECRET'",
                "GRANT ALL ON *.* TO a IDENTIFIED BY 'pa' SECRET",
                "SET PASSWORD FOR a = 'SECRET'",
                "SET PASSWORD FOR a = SECRET",
                "SET PASSWORD FOR a = PASSWORD('x', 'SECRET')",
                "PREPARE s FROM 'CREATE USER a IDENTIFIED BY ''x, SECRET'''"
            })
    void noPasswordIsAName(String statement) {
        assertThat(accounts(statement)).contains("a").noneMatch(account -> account.contains("SECRET"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "GRANT FILE ON *.* TO decoy, | decoy",
                "GRANT FILE ON *.* TO decoy, /* a log cut it here | decoy",
                "GRANT FILE ON *.* TO decoy, 123, mallory | decoy",
                "GRANT FILE ON *.* TO decoy, 'mall | decoy",
                "GRANT FILE ON *.* TO decoy, user, mallory | decoy",
                "GRANT FILE ON *.* TO decoy/*!99998 x*/, mallory | decoy",
                "GRANT FILE ON *.* TO decoy, CURRENT_ROLE | decoy",
                "RENAME USER a TO b, c | a b c",
                "ALTER USER me IDENTIFIED BY 'a', root IDENTIFIED BY 'b'REQUIRE NONE | me",
                "CREATE USER decoy IDENTIFIED BY 'x', mallory IDENTIFIED BY 'y'REQUIRE NONE | decoy",
                "CREATE USER decoy IDENTIFIED BY | decoy",
                "CREATE USER decoy IDENTIFIED BY !Secret,Word99 | decoy",
                "PREPARE s FROM 'GRANT FILE ON *.* TO decoy' ', mallory' | decoy",
                "EXECUTE IMMEDIATE 'CREATE USER decoy' + ', mallory' | decoy",
                "PREPARE s FROM 'CREATE USER decoy, ' | decoy",
                "SET @a='GRANT FILE ON *.* TO decoy' ', mallory' | decoy",
                "SET @a='GRANT FILE ON *.* TO decoy', @b=', mallory' | decoy",
                "SET @a='GRANT/**/FILE ON *.* TO decoy' | decoy",
            })
    void statementsThatMayConcernMoreAccountsAreIncomplete(String statement, String expected) {
        assertThat(accounts(statement)).containsExactly(expected.split(" "));
        assertThat(fingerprinter.accountsAreIncomplete()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GRANT FILE ON *.*",
                "GRANT FILE ON *.* TO",
                "CREATE USER",
                "SET PASSWORD FOR",
                "PREPARE s FROM 0x4752414e54",
                "SET @note = 'Grant refund to Alice, Bob'",
                "SET @a = 'SET PASSWORD FOR mallory TO RANDOM'"
            })
    void statementsWithUnknownAccountsAreIncomplete(String statement) {
        assertThat(accounts(statement)).isEmpty();
        assertThat(fingerprinter.accountsAreIncomplete()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GRANT ALL ON *.* TO 'a'@'%' WITH GRANT OPTION",
                "CREATE USER a@h IDENTIFIED BY <secret>, b@h IDENTIFIED BY <secret> REQUIRE SSL",
                "CREATE USER a IDENTIFIED VIA ed25519 USING PASSWORD('x,y') OR unix_socket, b",
                "CREATE USER a IDENTIFIED BY PASSWORD '*00', b IDENTIFIED BY *****",
                "CREATE USER a IDENTIFIED WITH x BY RANDOM PASSWORD, b IDENTIFIED BY RANDOM PASSWORD",
                "ALTER USER a IDENTIFIED BY 'n' REPLACE 'o' RETAIN CURRENT PASSWORD, b DISCARD OLD PASSWORD, c",
                "ALTER USER a@h DEFAULT ROLE r1, r2",
                "DROP USER IF EXISTS a, b",
                "SET PASSWORD = 'x'",
                "SET DEFAULT ROLE r",
                "PREPARE s FROM 'GRANT ALL ON *.* TO a'",
                "EXECUTE IMMEDIATE 'GRANT ALL ON *.* TO a' USING @x",
                "SELECT /*!40001 SQL_NO_CACHE */ * FROM t",
                "PREPARE s FROM @q",
                "SET @q = 'SELECT 1', @r = 0x41",
                "SET @note = 'Please create an account for Alice, Bob'"
            })
    void completeStatementsAreNotIncomplete(String statement) {
        accounts(statement);
        assertThat(fingerprinter.accountsAreIncomplete()).isFalse();
    }

    @Test
    void ordinaryTextsInVariablesNameNoAccount() {
        assertThat(accounts("SET @note = 'Grant refund to Alice, Bob'")).isEmpty();
        assertThat(accounts("SET @note = 'Revoke access from Alice', @b = 'Set password for Bob'"))
                .isEmpty();
    }

    @Test
    void anUnknownSessionUserIsIncomplete() {
        byte[] bytes = ByteText.bytes("SET PASSWORD = 'x'");
        NormalizedStatement shape = fingerprinter.statement(bytes, 0, bytes.length);
        assertThat(fingerprinter.accounts(shape, bytes, 0, bytes.length, "")).isEmpty();
        assertThat(fingerprinter.accountsAreIncomplete()).isTrue();
    }

    @Test
    void quotesAreThoseOfTheServersMode() {
        Fingerprinter mode = new Fingerprinter(new SqlMode(true, true));
        byte[] bytes = ByteText.bytes("GRANT ALL ON \"a b\".* TO \"x\"@'\\', y");
        NormalizedStatement shape = mode.statement(bytes, 0, bytes.length);
        assertThat(mode.accounts(shape, bytes, 0, bytes.length, "")).containsExactly("x@\\", "y");
    }

    @Test
    void numbersAndLengthsHaveBounds() {
        String[] many = new String[500];
        Arrays.setAll(many, i -> "u" + i);
        assertThat(accounts("DROP USER " + String.join(",", many))).hasSize(64);
        assertThat(fingerprinter.accountsAreIncomplete()).isTrue();
        assertThat(accounts("DROP USER " + "u".repeat(300))).isEmpty();
    }

    /** Without a stack overflow; LinearTimeTest compares the time. */
    @Test
    void longTextsNameNoAccount() {
        assertThat(accounts("SET STATEMENT a=1 FOR ".repeat(40_000))).isEmpty();
        assertThat(accounts("PREPARE s FROM '".repeat(60_000))).isEmpty();
        assertThat(accounts("GRANT ".repeat(100_000))).isEmpty();
    }
}
