package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.fingerprint.AccountStatements;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.json.AvroJsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * No event and no fingerprint contains the text of a literal, in any format, with the escapes of its writer, and with
 * the statement cut at any byte.
 */
class SecretsOfEveryFormatTest {

    private static final List<String> STATEMENTS = List.of(
            "SELECT * FROM t WHERE a = 'zq7secret' AND b = \"zq7secret\"",
            "INSERT INTO t (a, b) VALUES ('x\\'zq7secret', 'it''s zq7secret'), ('\n zq7secret\t\\\\', N'zq7secret')",
            "UPDATE t SET a = _utf8mb4'zq7secret', b = x'zq7secret' /* zq7secret */ WHERE c = 1 -- zq7secret",
            "SELECT '</SQLTEXT></AUDIT_RECORD><AUDIT_RECORD>zq7secret', '\",\"zq7secret\"}},', ',0\n\"Query\",\"9_zq7secret'",
            "CREATE USER u IDENTIFIED BY 'zq7secret'",
            "CREATE USER u IDENTIFIED BY 'a, zq7secret', 'v' IDENTIFIED BY \"b', zq7secret\", w",
            "SET PASSWORD FOR u = 'zq7secret'",
            "ALTER USER u IDENTIFIED WITH sha256_password AS 'zq7secret'",
            "SET PERSIST_ONLY s3_secret_key=zq7secret, GLOBAL wsrep_sst_auth='sst:zq7secret'",
            "SELECT 'a\u0001\u001a zq7secret' # zq7secret");

    @Test
    void everyFormatHasAWriter() {
        assertThat(LogWriter.all())
                .extracting(LogWriter::format)
                .as("formats that LogWriter writes: add a new one to all() or ofAudit()")
                .containsExactlyInAnyOrderElementsOf(
                        new FormatRegistry().all().stream().map(LogFormat::name).toList());
    }

    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void noLiteralLeavesItsParser(LogWriter writer) {
        LogFormat format = writer.logFormat();
        for (String statement : STATEMENTS) {
            for (int length = 1; length <= statement.length(); length++) {
                String record = writer.record().apply(statement.substring(0, length));
                byte[] file = record.getBytes(StandardCharsets.UTF_8);
                FramedLog log = FramedLog.of(format, file);
                List<Parsed.Outcome> outcomes = Parsed.of(format, log);
                assertThat(outcomes.size() + log.rejections().size()).as(record).isOne();
                assertNothingIsRevealed(record, log, outcomes);
            }
        }
    }

    private static void assertNothingIsRevealed(String record, FramedLog log, List<Parsed.Outcome> outcomes) {
        log.rejections()
                .forEach(rejection -> assertThat(rejection.message()).as(record).doesNotContain("zq7"));
        for (Parsed.Outcome outcome : outcomes) {
            String all = outcome.event() == null
                    ? outcome.message()
                    : new AvroJsonWriter().write(outcome.event()) + accounts(outcome);
            assertThat(all + outcome.fingerprint()).as(record).doesNotContain("zq7");
        }
    }

    private static List<String> accounts(Parsed.Outcome outcome) {
        if (outcome.event() instanceof QueryEvent query) {
            return query.getAccounts();
        }
        return outcome.event() instanceof AuditEvent audit ? audit.getAccounts() : List.of();
    }

    /** A statement that contains a credential has no sample. */
    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void credentialsHaveNoSample(LogWriter writer) {
        for (String statement : List.of(
                "SET GLOBAL wsrep_sst_auth='sst:zq7secret'",
                "SET GLOBAL authentication_ldap_simple_bind_root_pwd='zq7secret'",
                "SET PERSIST_ONLY s3_secret_key=zq7secret",
                "UPDATE mysql.global_priv SET priv=JSON_SET(priv,'$.authentication_string','*zq7secret')",
                "INSERT INTO mysql.user(user, authentication_string) VALUES('a','*zq7secret')",
                "INSERT INTO user VALUES('a','*0123456789abcdef0123456789ABCDEF01234567', 'zq7secret')",
                "INSERT INTO user VALUES('a','$A$005$zq7secret')")) {
            byte[] file = writer.record().apply(statement).getBytes(StandardCharsets.UTF_8);
            FramedLog log = FramedLog.of(writer.logFormat(), file);
            List<Parsed.Outcome> outcomes = Parsed.of(writer.logFormat(), log);
            assertNothingIsRevealed(statement, log, outcomes);
            outcomes.forEach(
                    outcome -> assertThat(outcome.statement()).as(statement).isEmpty());
        }
    }

    /** Names are reported and passwords are not, in every kind of log: slow, audit, general and error log. */
    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void namesAreReportedAndSecretsAreNot(LogWriter writer) {
        AccountStatements statements =
                new AccountStatements(new Random(writer.format().hashCode()));
        for (int i = 0; i < 400; i++) {
            AccountStatements.Statement statement = statements.next();
            byte[] file = writer.record().apply(statement.text()).getBytes(StandardCharsets.UTF_8);
            for (Parsed.Outcome outcome : Parsed.of(writer.logFormat(), FramedLog.of(writer.logFormat(), file))) {
                String reported = outcome.event() == null
                        ? outcome.message()
                        : new AvroJsonWriter().write(outcome.event()) + accounts(outcome) + outcome.fingerprint();
                assertThat(reported.toLowerCase(Locale.ROOT))
                        .as(statement.text())
                        .doesNotContain(AccountStatements.SECRET);
                if (statement.certain()) {
                    statement.accounts().forEach(name -> assertThat(reported).contains("`" + name + "`"));
                    statement.names().forEach(name -> assertThat(reported).containsIgnoringCase(name));
                }
            }
        }
    }

    /** Statements as clients write them, and as servers rewrite them for their logs. */
    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void accountsOfAStatementAreNamed(LogWriter writer) {
        for (String statement : List.of(
                "CREATE USER 'it\\'s'@'%', `b``t`@\"10.0.0.%\" IDENTIFIED BY 'zq7secret'",
                "CREATE USER 'it''s'@'%' IDENTIFIED WITH 'caching_sha2_password' AS '<secret>',"
                        + "'b`t'@'10.0.0.%' IDENTIFIED WITH 'mysql_native_password' AS '*0123' REQUIRE NONE",
                "CREATE USER \"it's\"@'%' IDENTIFIED BY *****, `b``t`@'10.0.0.%' IDENTIFIED BY *****",
                "GRANT ALL ON *.* /* to all */ TO\n'it''s'@'%',\n\t'b`t'@'10.0.0.%' WITH GRANT OPTION")) {
            byte[] file = writer.record().apply(statement).getBytes(StandardCharsets.UTF_8);
            FramedLog log = FramedLog.of(writer.logFormat(), file);
            Parsed.Outcome outcome = Parsed.of(writer.logFormat(), log).get(0);
            List<String> expected = outcome.fingerprint().isEmpty() ? List.of() : List.of("it's@%", "`b``t`@10.0.0.%");
            assertThat(accounts(outcome)).as(statement).isEqualTo(expected);
        }
    }

    /** Records that are cut at any byte: events contain no literal, and rejections contain no text of the record. */
    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void noLiteralOfACutRecordLeavesItsParser(LogWriter writer) {
        LogFormat format = writer.logFormat();
        Random random = new Random(writer.format().hashCode());
        for (int round = 0; round < 500; round++) {
            String record = writer.record().apply(STATEMENTS.get(random.nextInt(STATEMENTS.size())));
            int cut = random.nextInt(record.length() + 1);
            int from = random.nextInt(10) == 0 ? random.nextInt(cut + 1) : 0;
            byte[] file = record.substring(from, cut).getBytes(StandardCharsets.UTF_8);
            FramedLog log = FramedLog.of(format, file);
            assertNothingIsRevealed(record.substring(from, cut), log, Parsed.of(format, log));
        }
    }
}
