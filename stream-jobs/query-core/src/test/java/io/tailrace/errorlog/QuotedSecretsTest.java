package io.tailrace.errorlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogOrigin;
import io.tailrace.framing.ParseListener;
import io.tailrace.json.AvroJsonWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The parser's output contains no value of a row and no literal of a quoted statement. */
class QuotedSecretsTest {

    private static final String SECRET = "PLANTED";

    /** Messages with a placeholder for a statement. */
    private static final List<String> AROUND_STATEMENTS = List.of(
            "2026-11-21T02:00:01Z 8 [ERROR] Slave SQL for channel '': Error 'x' on query. Default database: 'shop'."
                    + " Query: '%s', Error_code: 1062\n",
            "2026-11-21T02:00:01Z 8 [ERROR] Slave SQL: Error 'x' on query. Default database: 'a'. Query: '%s'\n",
            "261121  2:00:01 [Warning] Statement may not be safe to log in statement format. Statement: %s\n",
            "2026-11-21T02:00:01Z 8 [Note] [MY-000000] [WSREP] cluster conflict\n   SQL: %s\n",
            "2026-11-21T02:00:01Z 8 [ERROR] Event Scheduler: [root@localhost] %s\n",
            "2026-11-21T02:50:00Z UTC - mysqld got signal 6 ;\nBuildID\nQuery (7f0ac00101d0): %s\nConnection ID (thread"
                    + " ID): 12\nStatus: NOT_KILLED\n",
            "100102  3:04:07 - mysqld got signal 6 ;\nthd->query at 0xf9b1670 = %s\nthd->thread_id=15\n",
            "2026-11-21T03:02:57.0Z 0 [Note] [MY-012468] [InnoDB] Transactions deadlock detected, dumping detailed"
                    + " information.\n2026-11-21T03:02:57.0Z 0 [Note] [MY-012469] [InnoDB]  *** (1) TRANSACTION: \n"
                    + "TRANSACTION 1341, ACTIVE 1 sec\nMySQL thread id 20, OS thread handle 1, query id 101 localhost"
                    + " root updating\n%s\n2026-11-21T03:02:57.1Z 0 [Note] [MY-012469] [InnoDB]  *** (1) HOLDS THE"
                    + " LOCK(S): \nRECORD LOCKS space id 3\n*** WE ROLL BACK TRANSACTION (2)\n",
            "=====================================\n2026-11-21 02:49:16 0x7f INNODB MONITOR OUTPUT\n"
                    + "=====================================\n------------\nTRANSACTIONS\n------------\n"
                    + "---TRANSACTION 1, ACTIVE 3 sec\nMySQL thread id 6, query id 162 localhost root update\n%s\n"
                    + "--------\nFILE I/O\n--------\nEND OF INNODB MONITOR OUTPUT\n============================\n");

    private static final List<String> LITERALS = List.of(
            "'%s'",
            "\"%s\"",
            "'it''s %s'",
            "'a\\'%s'",
            "x'%s'",
            "_utf8mb4'%s'",
            "N'%s'",
            "'\n%s'",
            "'a\n\n*** %s'",
            "'\n2026-11-21T02:00:01Z 8 [Note] %s'",
            "'\nEND OF INNODB MONITOR OUTPUT\n%s'",
            "'\nRECORD LOCKS %s'",
            "/* %s */ 1",
            "'-- %s'",
            "'a' -- %s\n",
            "'a', Error_code: %s'",
            "'\n------------\n%s'");

    /** Three lines that resemble messages prove that a literal was never closed: the text in them is withheld. */
    private static final List<String> PROOFS = List.of(
            "'\n2026-11-21T02:00:01Z 8 [Note] a\n2026-11-21T02:00:01Z 8 [%s] b\n2026-11-21T02:00:01Z 8 [Note] %s'",
            "'\n2026-11-21T02:00:01Z 8 [Note] a\n261121  2:00:01 [Note] b %s\n2026-11-21T02:00:01Z 8 [Note] %s\n%s'");

    /** Messages with a placeholder, within the quotes, for a value of a row or a client's text. */
    private static final List<String> AROUND_VALUES = List.of(
            "2026-11-21T02:00:01Z 8 [ERROR] Slave SQL for channel '': Could not execute Write_rows event on table a.b;"
                    + " Duplicate entry '%s' for key 'PRIMARY', Error_code: 1062; handler error HA_ERR_FOUND_DUPP_KEY\n",
            "261121  2:00:01 [ERROR] Event Scheduler: [root@localhost][a.e] Duplicate entry '%s' for key 'PRIMARY'\n",
            "261121  2:00:01 [ERROR] Event Scheduler: [root@localhost][a.e] You have an error in your SQL syntax; check"
                    + " the manual for the right syntax to use near '%s' at line 1\n",
            "2026-11-21  2:00:01 5 [Warning] Incorrect integer value: '%s' for column `a`.`b`.`c` at row 1\n");

    /** Messages that contain a value or a credential in another form. */
    private static final List<String> AROUND_OTHERS = List.of(
            "InnoDB: Record in index a of table b was not found on update: TUPLE (info_bits=0, 2 fields): {[7]%s(0x50)}"
                    + " at: COMPACT RECORD(info_bits=0, 1 fields): {[8]%s (0x69)}",
            "Slave SQL: Query caused different errors on master and slave.     Error on master: message (format)='a'"
                    + " error code=1062 ; Error on slave: actual message='Bad %s', error code=1146.",
            "Slave SQL: Error 'Table has no partition for value %s' on query. Default database: 'a'. Query: 'b'",
            "Event Scheduler: [root@localhost][a.e] Table has no partition for value %s",
            "Event Scheduler: [root@localhost][a.e] XPATH syntax error: '~%s'",
            "Event Scheduler: [root@localhost][a.e] BIGINT UNSIGNED value is out of range in '(`a` - %s)'",
            "Event Scheduler: [root@localhost][a.e] Variable 'sql_mode' can't be set to the value of '%s'",
            "Event Scheduler: [root@localhost][a.e] Cannot convert string '%s' from utf8mb4 to binary",
            "Event Scheduler: [root@localhost][a.e] Invalid utf8mb4 character string: '%s'",
            "xtrabackup: recognized client arguments: --password=%s --encrypt-key=%s --s3-access-key=%s --backup",
            "innobackupex --skip-password --encrypt-key %s --backup",
            "mysqldump -u root -p'%s' a",
            "mysql -uroot -p%s -e quit",
            "wsrep_sst_auth = sst:%s",
            "failed to fetch https://backup:%s@10.0.0.9/full");

    private static final List<String> VALUES = List.of(
            "%s",
            "it's %s",
            "a\n%s",
            "a' for key 'b\n%s",
            "a\n\n%s\nb",
            "\n2026-11-21T02:00:01Z 8 [Note] %s",
            "\n2026-11-21T02:00:01Z 8 [ERROR] [MY-010584] [%s] it's %s",
            "\n2026-11-21T02:00:01Z 8 [Note] a\n2026-11-21T02:00:01Z 8 [Note] b\n2026-11-21T02:00:01Z 8 [Note] %s",
            "\n{ \"prio\" : 2, \"err_code\" : 1, \"msg\" : \"%s\", \"time\" : \"2026-11-21T03:07:52.208130Z\" }\n",
            "\n=====================================\n2026-11-21 02:49:16 0x7f INNODB MONITOR OUTPUT\n%s");

    private static final List<String> STATEMENTS = List.of(
            "INSERT INTO t (a) VALUES (1, LITERAL)",
            "UPDATE t SET a = LITERAL WHERE b = LITERAL",
            "DELETE FROM t WHERE a = LITERAL\nAND b = 1",
            "SELECT * FROM t WHERE a IN (LITERAL, LITERAL)",
            "CREATE USER 'u'@'h' IDENTIFIED BY LITERAL",
            "SET PASSWORD = LITERAL",
            "CALL p(LITERAL)",
            "ALTER USER u IDENTIFIED WITH x BY LITERAL REPLACE LITERAL");

    private final ErrorLogFormat format = new ErrorLogFormat();

    @Test
    void statementsInEveryKindOfMessage() {
        Random random = new Random(20261121);
        for (String around : AROUND_STATEMENTS) {
            for (String literal : LITERALS) {
                for (String statement : STATEMENTS) {
                    String secret = literal.replace("%s", SECRET);
                    String quoted = statement.replace("LITERAL", secret);
                    check(around.replace("%s", quoted));
                    check(around.replace("%s", quoted.substring(0, 1 + random.nextInt(quoted.length()))));
                }
            }
        }
    }

    @Test
    void possibleTextOfAnUnclosedLiteral() {
        for (String around : AROUND_STATEMENTS) {
            for (String literal : PROOFS) {
                check(around.replace("%s", "DELETE FROM t WHERE a = " + literal.replace("%s", SECRET)));
            }
        }
    }

    @Test
    void valuesWithLineFeeds() {
        String next = "2026-11-21T02:00:09Z 9 [Note] the next message\n";
        for (String around : AROUND_VALUES) {
            for (String value : VALUES) {
                check(around.replace("%s", value.replace("%s", SECRET)) + next + next);
            }
        }
    }

    @Test
    void valuesAndCredentialsInOtherMessages() {
        for (String around : AROUND_OTHERS) {
            check("2026-11-21  2:00:01 5 [ERROR] " + around.replace("%s", SECRET) + "\n");
            check("2026-11-21T02:00:01Z 8 [ERROR] [MY-000000] [Server] " + around.replace("%s", SECRET) + "\n");
        }
    }

    /**
     * A name that is not proven to be an account's, and that contains a line feed, does not start a separate message.
     */
    @Test
    void aRefusedNameForgesNoMessage() {
        String log = "2026-11-21T02:00:01Z 8 [Note] Access denied for user 'a\n"
                + "2026-11-21T02:00:02Z 8 [ERROR] mysqld got signal 11 ;'@'10.0.0.9' (using password: YES)\n"
                + "2026-11-21T02:00:03Z 9 [Note] next\n";
        assertThat(events(log)).hasSize(2);
        assertThat(events(log).get(0).getFlags()).containsExactly("forged_header");
        assertThat(events(log).get(0).getKind()).isEqualTo("access_denied");
    }

    @Test
    void theMessagesOfTheGoldenFiles() throws Exception {
        int checked = 0;
        try (Stream<Path> cases = Files.list(Path.of("src/test/resources/golden/mysql-error"))) {
            for (Path path : cases.toList()) {
                String file = Files.readString(path.resolve("input.log"));
                checked += file.contains(SECRET) ? 1 : 0;
                check(file);
            }
        }
        assertThat(checked).isGreaterThanOrEqualTo(8);
    }

    private void check(String log) {
        AvroJsonWriter json = new AvroJsonWriter();
        for (ErrorEvent event : events(log)) {
            String all = json.write(event);
            assertThat(all).as(log).doesNotContain(SECRET);
        }
    }

    private List<ErrorEvent> events(String text) {
        FramedLog log = FramedLog.of(format, text.getBytes(StandardCharsets.UTF_8));
        Events events = new Events();
        EntryParser parser = format.newParser();
        LogOrigin origin = new LogOrigin("main", "db1", "errorlog", format.name(), "UTC", "/error.log");
        for (FramedLog.Frame entry : log.entries()) {
            parser.parse(
                    new LogEntry(
                            origin, 1, entry.from(), log.file(), (int) entry.from(), (int) entry.to(), entry.context()),
                    events);
        }
        return events.found;
    }

    /** Collects error events. */
    private static final class Events implements ParseListener {

        private final List<ErrorEvent> found = new ArrayList<>();

        @Override
        public void error(ErrorEvent event) {
            found.add(event);
        }

        @Override
        public void query(QueryEvent event, String fingerprint, String statement) {
            throw new AssertionError("an error log has no such event");
        }

        @Override
        public void audit(AuditEvent event, String fingerprint, String statement) {
            throw new AssertionError("an error log has no such event");
        }

        @Override
        public void rejected(DeadLetterCode code, String message) {
            throw new AssertionError(code + ": " + message);
        }
    }
}
