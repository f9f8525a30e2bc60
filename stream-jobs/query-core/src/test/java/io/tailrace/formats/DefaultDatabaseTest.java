package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The default database of a statement whose record does not name it is that of its connection, or unknown, and never
 * another one.
 */
class DefaultDatabaseTest {

    private static final LogFormat FORMAT =
            new FormatRegistry().named("mysql-enterprise-audit-json").orElseThrow();

    private static String record(String eventClass, String event, int connection, String data) {
        return "{ \"timestamp\": \"2026-01-02 14:23:18\", \"id\": 0, \"class\": \"" + eventClass + "\", \"event\": \""
                + event + "\", \"connection_id\": " + connection + data + " },\n";
    }

    private static String connect(int connection, String database) {
        return connection("connect", connection, database, 0);
    }

    private static String connection(String event, int connection, String database, int status) {
        return record(
                "connection",
                event,
                connection,
                ", \"connection_data\": { \"status\": " + status + ", \"db\": \"" + database + "\" }");
    }

    private static String query(int connection, String text) {
        return query(connection, "Query", "status", text, 0);
    }

    private static String query(int connection, String command, String event, String text, int status) {
        return record(
                "general",
                event,
                connection,
                ", \"general_data\": { \"command\": \"" + command + "\", \"sql_command\": \"select\", \"query\": \""
                        + text + "\", \"status\": " + status + " }");
    }

    private static byte[] log(String... records) {
        return String.join("", records).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the databases of the statements that read a table, and checks that they do not change if the framer is
     * saved and restored after every line.
     */
    private static List<String> databases(String... records) {
        byte[] file = log(records);
        List<String> found = databases(FramedLog.of(FORMAT, file));
        assertThat(databases(FramedLog.ofRestored(FORMAT, file))).isEqualTo(found);
        return found;
    }

    private static List<String> databases(FramedLog log) {
        return Parsed.of(FORMAT, log).stream()
                .map(outcome -> (AuditEvent) outcome.event())
                .filter(event -> !event.getTablesRead().isEmpty())
                .peek(event -> assertThat(event.getFlags().contains("database_inherited"))
                        .isEqualTo(!event.getDatabase().isEmpty()))
                .map(AuditEvent::getDatabase)
                .toList();
    }

    private static final String READ = "select * from cards";

    @Test
    void isThatOfTheLogin() {
        assertThat(databases(connect(5, "shop"), connect(6, "crm"), query(5, READ), query(6, READ), query(7, READ)))
                .containsExactly("shop", "crm", "");
    }

    @Test
    void isChangedByUse() {
        assertThat(databases(
                        connect(5, "shop"),
                        query(5, "use crm"),
                        query(5, READ),
                        query(5, "/* x */ USE `we``ird`;"),
                        query(5, READ),
                        query(5, "Query", "status", "use secret", 1044),
                        query(5, "Query", "log", "use before_it_ran", 0),
                        query(5, READ),
                        query(6, "use crm"),
                        query(6, READ)))
                .containsExactly("crm", "we`ird", "we`ird", "crm");
    }

    @Test
    void isReadFromUseByTheRulesOfTheServer() {
        for (String use : List.of(
                "use shop /* app */",
                "/*!50000 use shop */",
                "-- x\\nuse shop",
                "use\\nshop",
                "use/**/shop",
                "use shop;;",
                "use shop # x",
                "/* " + "x".repeat(5_000) + " */ use shop")) {
            assertThat(databases(connect(5, "crm"), query(5, use), query(5, READ)))
                    .as(use)
                    .containsExactly("shop");
        }
        for (String use : List.of("use shop; select 1", "/*!80000 use shop */", "use \u00a0shop")) {
            assertThat(databases(connect(5, "crm"), query(5, use), query(5, READ)))
                    .as(use)
                    .containsExactly("");
        }
    }

    @Test
    void isUnknownAfterACommandThatDoesNotNameIt() {
        assertThat(databases(connect(5, "shop"), query(5, "Init DB", "status", "", 0), query(5, READ)))
                .containsExactly("");
        assertThat(databases(connect(5, "shop"), query(5, "Init DB", "status", "", 1044), query(5, READ)))
                .containsExactly("shop");
    }

    @Test
    void isThatOfTheChangedUser() {
        assertThat(databases(
                        connect(5, "shop"),
                        connection("change_user", 5, "crm", 0),
                        query(5, "Change user", "status", "", 0),
                        query(5, READ),
                        connection("change_user", 5, "shop", 1045),
                        query(5, READ)))
                .containsExactly("crm", "");
    }

    @Test
    void endsWithTheConnectionAndTheServer() {
        assertThat(databases(connect(5, "shop"), connection("disconnect", 5, "shop", 0), query(5, READ)))
                .containsExactly("");
        assertThat(databases(connect(5, "shop"), record("audit", "startup", 0, ""), query(5, READ)))
                .containsExactly("");
        assertThat(databases(connection("connect", 5, "shop", 1045), query(5, READ)))
                .containsExactly("");
    }

    @Test
    void isNotTakenFromTextOfAClient() {
        String attributes = record(
                "connection",
                "connect",
                5,
                ", \"connection_data\": { \"status\": 0, \"db\": \"shop\", \"connection_attributes\": { \"db\": \"crm\","
                        + " \"connection_id\": \"6\", \"x\": \"" + "y".repeat(60_000) + "\" } }");
        assertThat(databases(connect(6, "crm"), attributes, query(5, READ), query(6, READ)))
                .containsExactly("shop", "crm");
    }

    @Test
    void isUnknownAfterAHole() {
        byte[] file = log(connect(5, "shop"), connect(6, "shop"), query(5, READ));
        int from = connect(5, "shop").length();
        FramedLog log =
                FramedLog.withHole(FORMAT, file, from, from + connect(6, "shop").length());
        assertThat(databases(log)).containsExactly("");
    }

    @Test
    void isStoredForALimitedNumberOfConnections() {
        EntryFramer framer = FORMAT.newFramer();
        byte[] file = log(java.util.stream.IntStream.range(0, 3_000)
                .mapToObj(connection -> connect(connection, "database_with_a_long_name_" + connection))
                .toArray(String[]::new));
        FramedLog log = FramedLog.ofOpen(FORMAT, new byte[0]);
        long at = 0;
        while (at < file.length) {
            int end = (int) at;
            while (file[end] != '\n') {
                end++;
            }
            at = framer.line(file, (int) at, end + 1, at, log);
        }
        assertThat(framer.snapshot()).hasSizeLessThan(64 << 10);
    }
}
