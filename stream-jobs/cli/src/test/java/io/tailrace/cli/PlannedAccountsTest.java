package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.LogReader;
import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Statements that are planned work of an administrator and an attack by others: the level depends on earlier days. */
class PlannedAccountsTest {

    private static final String DAY_BEFORE = "20261123 09:00:00";
    private static final String HOUR_BEFORE = "20261124 11:00:00";
    private static final String NOW = "20261124 12:00:00";
    private static final String DBA = "marek 10.0.9.7";

    private static final List<String> HISTORY = List.of(
            line(DAY_BEFORE, DBA, "SELECT user, host FROM mysql.user"),
            line(DAY_BEFORE, DBA, "KILL 33"),
            line(DAY_BEFORE, DBA, "ALTER TABLE orders ADD COLUMN note TEXT"),
            line(DAY_BEFORE, DBA, "CREATE TRIGGER o1 BEFORE INSERT ON orders FOR EACH ROW SET NEW.note = 1"),
            line(DAY_BEFORE, "ansible 10.0.6.1", "SHOW GRANTS FOR 'web'@'10.0.1.%'"),
            line(DAY_BEFORE, "shop 10.0.1.11", "SELECT * FROM orders WHERE id = 4"),
            line(DAY_BEFORE, "shop 10.0.1.11", "KILL QUERY 35"), // a driver after a timeout
            line(DAY_BEFORE, "shop 10.0.1.11", "ALTER USER USER() IDENTIFIED BY 'x'"),
            line(DAY_BEFORE, "shop 10.0.1.11", "SHOW GRANTS FOR CURRENT_USER()"),
            line(DAY_BEFORE, "zabbix 10.0.4.2", "SELECT COUNT(*) FROM mysql.user"),
            line(HOUR_BEFORE, "eve 10.0.9.8", "SELECT user, host FROM mysql.user"));

    private static RuleBundle bundle;

    @BeforeAll
    static void readPack() throws IOException {
        bundle = RuleBundle.of(RuleBundle.files(Path.of("../../rules")), new DatabaseFieldMapping());
        assertThat(bundle.errors()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
            marek 10.0.9.7 | CREATE USER rep@'10.0.7.%' IDENTIFIED BY 'x' | LOW new_limited_account
            marek 10.0.9.7 | CREATE USER a@h IDENTIFIED BY 'x', b@h IDENTIFIED BY 'x' REQUIRE SSL | LOW new_limited_account
            ansible 10.0.6.1 | CREATE USER IF NOT EXISTS svc@'10.0.1.%' IDENTIFIED BY 'x' | LOW new_limited_account
            marek 10.0.1.11 | CREATE USER rep@'10.0.7.%' IDENTIFIED BY 'x' | MEDIUM new_limited_account
            shop 10.0.1.11 | CREATE USER rep@'10.0.7.%' IDENTIFIED BY 'x' | MEDIUM new_limited_account
            zabbix 10.0.4.2 | CREATE USER rep@'10.0.7.%' IDENTIFIED BY 'x' | MEDIUM new_limited_account
            eve 10.0.9.8 | CREATE USER rep@'10.0.7.%' IDENTIFIED BY 'x' | MEDIUM new_limited_account
            marek 10.0.9.7 | CREATE USER rep@'%' IDENTIFIED BY 'x' | MEDIUM new_account
            marek 10.0.9.7 | CREATE USER rep IDENTIFIED BY 'x' | MEDIUM new_account
            marek 10.0.9.7 | CREATE USER rep@'10.0.7.%' | MEDIUM new_account
            marek 10.0.9.7 | CREATE USER ''@'10.0.7.%' IDENTIFIED BY 'x' | MEDIUM new_account
            marek 10.0.9.7 | CREATE USER rep@'198.51.100.7' IDENTIFIED BY 'x' | MEDIUM new_account
            marek 10.0.9.7 | CREATE OR REPLACE USER web@'10.0.1.%' IDENTIFIED BY 'x' | MEDIUM new_account
            marek 10.0.9.7 | SET ROLE db_admin | LOW privileged_role_activated
            shop 10.0.1.11 | SET ROLE db_admin | MEDIUM privileged_role_activated
            shop 10.0.1.11 | SET DEFAULT ROLE ALL TO CURRENT_USER() | MEDIUM privileged_role_activated
            marek 10.0.9.7 | ALTER TABLE customers DROP COLUMN email | LOW sensitive_column_dropped
            shop 10.0.1.11 | ALTER TABLE customers DROP COLUMN email | MEDIUM sensitive_column_dropped
            marek 10.0.9.7 | CREATE TRIGGER c1 AFTER INSERT ON customers FOR EACH ROW SET @a = 1 | LOW trigger_on_sensitive_table
            shop 10.0.1.11 | CREATE TRIGGER c1 AFTER INSERT ON customers FOR EACH ROW SET @a = 1 | MEDIUM trigger_on_sensitive_table
            """)
    void theLevelDependsOnWhatTheAccountDidBefore(String who, String statement, String alert) throws IOException {
        List<String> lines = new ArrayList<>(HISTORY);
        lines.add(line(NOW, who, statement));

        assertThat(alertsOfLast(lines)).as("%s: %s", who, statement).containsOnlyOnce(alert);
    }

    @Test
    void privilegesOfAPlannedAccountKeepTheirLevels() throws IOException {
        List<String> lines = new ArrayList<>(HISTORY);
        lines.add(line(NOW, DBA, "CREATE USER rep@'10.0.7.%' IDENTIFIED BY 'x'"));
        lines.add(line(NOW, DBA, "GRANT ALL ON *.* TO rep@'10.0.7.%'"));

        assertThat(alertsOfLast(lines)).contains("HIGH grant_all", "CRITICAL new_administrator");
    }

    /** The account that is refused administered on an earlier day, from one host. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            marek 10.0.1.11 | MEDIUM
            marek localhost | MEDIUM
            marek 10.0.9.8  | LOW
            MAREK 10.0.9.8  | LOW
            shop 10.0.9.8   |
            eve 10.0.1.11   |
            root 10.0.1.11  |
            """)
    void aRefusedLoginOfAnAccountThatAdministersIsReportedByItsHost(String who, String level) throws IOException {
        List<String> lines = new ArrayList<>(HISTORY);
        lines.add(line(DAY_BEFORE, "marek 10.0.9.8", "GRANT SELECT ON shop.* TO web@'10.0.1.%'"));
        lines.add(line(HOUR_BEFORE, "eve 10.0.9.8", "GRANT SELECT ON shop.* TO web@'10.0.1.%'"));
        String[] account = who.split(" ");
        lines.add(NOW + ",db2," + account[0] + ',' + account[1] + ",32,0,FAILED_CONNECT,,,1045");

        List<String> alerts = alertsOfLast(lines).stream()
                .filter(alert -> alert.endsWith(" refused_administrator_login"))
                .toList();
        assertThat(alerts).isEqualTo(level == null ? List.of() : List.of(level + " refused_administrator_login"));
    }

    /** A panel creates databases on each day; a developer dropped one once. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            root localhost | LOW
            root 10.0.9.8  | CRITICAL
            dev 10.0.9.8   | CRITICAL
            eve 10.0.9.8   | CRITICAL
            """)
    void aDatabaseDroppedByRoutineHasALowerLevel(String who, String level) throws IOException {
        List<String> lines = new ArrayList<>();
        for (int day = 20; day < 23; day++) {
            lines.add(line("202611" + day + " 09:00:00", "root localhost", "CREATE DATABASE t1_wp"));
        }
        lines.add(line(DAY_BEFORE, "dev 10.0.9.8", "DROP DATABASE shop_old"));
        lines.add(line(NOW, who, "DROP DATABASE campus"));

        assertThat(alertsOfLast(lines)).containsOnlyOnce(level + " database_dropped");
    }

    /** Statements that administrators run in a maintenance window, after days of administration from one host. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            textBlock =
                    """
            3 | marek 10.0.9.7 | SHUTDOWN | LOW server_shut_down
            1 | marek 10.0.9.7 | SHUTDOWN | HIGH server_shut_down
            3 | marek 10.0.1.11 | SHUTDOWN | HIGH server_shut_down
            3 | marek 10.0.9.7 | SET GLOBAL wsrep_cluster_address = 'gcomm://10.9.9.9' | LOW galera_cluster_changed
            1 | marek 10.0.9.7 | SET GLOBAL wsrep_cluster_address = 'gcomm://10.9.9.9' | MEDIUM galera_cluster_changed
            3 | marek 10.0.1.11 | SET GLOBAL wsrep_cluster_address = 'gcomm://10.9.9.9' | MEDIUM galera_cluster_changed
            3 | marek 10.0.1.11 | SET GLOBAL offline_mode = ON | MEDIUM service_limited
            1 | marek 10.0.9.7 | SET GLOBAL offline_mode = ON | LOW service_limited
            3 | marek 10.0.1.11 | STOP REPLICA | MEDIUM replication_stopped
            1 | marek 10.0.9.7 | STOP REPLICA | LOW replication_stopped
            3 | ops 10.0.9.9 | STOP REPLICA | LOW replication_stopped
            3 | ops 10.0.9.9 | SET GLOBAL offline_mode = ON | LOW service_limited
            3 | cdc 10.0.9.9 | SET GLOBAL offline_mode = ON | MEDIUM service_limited
            3 | ops 10.0.9.9 | SHUTDOWN | HIGH server_shut_down
            3 | cdc 10.0.9.9 | STOP REPLICA | MEDIUM replication_stopped
            3 | cdc 10.0.9.9 | SET ROLE db_admin | MEDIUM privileged_role_activated
            3 | cdc 10.0.9.9 | CREATE USER rep@'10.0.7.%' IDENTIFIED BY 'x' | MEDIUM new_limited_account
            3 | marek 10.0.1.11 | SET GLOBAL read_only = OFF | MEDIUM read_only_lifted
            3 | marek 10.0.9.7 | SET GLOBAL read_only = OFF | LOW read_only_lifted
            """)
    void maintenanceIsLowFromTheHostFromWhichTheAccountAdministers(int days, String who, String statement, String alert)
            throws IOException {
        List<String> lines = new ArrayList<>();
        for (int day = 23 - days; day < 23; day++) {
            lines.add(line("202611" + day + " 09:00:00", DBA, "KILL 33"));
            lines.add(line("202611" + day + " 09:00:00", "ops 10.0.9.9", "SHOW REPLICA STATUS"));
            lines.add(line("202611" + day + " 09:00:00", "cdc 10.0.9.9", "SHOW MASTER STATUS"));
        }
        lines.add(line(NOW, who, statement));

        assertThat(alertsOfLast(lines)).as("%s: %s", who, statement).containsOnlyOnce(alert);
    }

    @Test
    void aBackupLockOfTheDayBeforeHidesNoDumpOfADataClass() throws IOException {
        String dump = "SELECT /*!40001 SQL_NO_CACHE */ * FROM `";
        List<String> lines = new ArrayList<>();
        lines.add(line(DAY_BEFORE, "eve 10.0.9.8", "LOCK INSTANCE FOR BACKUP"));
        lines.add(line(HOUR_BEFORE, "eve 10.0.9.8", dump + "orders`"));
        lines.add(line(NOW, "eve 10.0.9.8", dump + "cards`"));
        assertThat(alertsOfLast(lines)).contains("HIGH sensitive_dumped");

        lines.add(line("20261126 12:00:00", "eve 10.0.9.8", dump + "cards`"));
        assertThat(alertsOfLast(lines)).contains("INFORMATIONAL sensitive_dumped");
        lines.add(line("20261126 13:00:00", "eve 10.0.9.9", dump + "cards`"));
        assertThat(alertsOfLast(lines)).as("another host").contains("HIGH sensitive_dumped");
    }

    /** A program whose password was rotated, or a shared host on which somebody guesses the password of its user. */
    @ParameterizedTest
    @CsvSource({"7, LOW", "6, HIGH"})
    void aLoginAfterADayOfRefusalsHasALowerLevelIfTheAccountLogsInThereOnMostDays(int days, String level)
            throws IOException {
        List<String> lines = new ArrayList<>();
        String mailer = ",db1,mailer,10.6.0.7,31,0,";
        for (int day = 23 - days; day < 23; day++) {
            lines.add("202611" + day + " 08:00:00" + mailer + "CONNECT,,,0");
        }
        for (int hour = 10; hour < 22; hour++) {
            lines.add("20261123 " + hour + ":00:00" + mailer + "FAILED_CONNECT,,,1045");
        }
        lines.add("20261123 22:30:00" + mailer + "CONNECT,,,0");

        assertThat(alertsOfLast(lines)).containsOnlyOnce(level + " login_after_slow_guessing");
    }

    private static String line(String time, String who, String statement) {
        String[] account = who.split(" ");
        return "%s,db1,%s,%s,31,900,QUERY,shop,'%s',0"
                .formatted(time, account[0], account[1], statement.replace("'", "\\'"));
    }

    private static List<String> alertsOfLast(List<String> lines) throws IOException {
        byte[] log = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
        LogFormat format = new FormatRegistry().detect("", "auto", log).orElseThrow();
        LogOrigin origin = new LogOrigin("", "db1", FormatRegistry.sourceOf(format), format.name(), "UTC", "audit.log");
        Run run = new Run();
        new LogReader(log, new ByteArrayInputStream(new byte[0]), format, origin, run).read(1);
        return run.ofLast;
    }

    private static final class Run implements DetectionEventHandler {

        private final DetectionEngine engine = new DetectionEngine(bundle.rules(), 0);
        private final DataClassifier classifier = new DataClassifier(bundle.dataClasses());
        private final ActionResolver actions = new ActionResolver(ActionResolver.MAX_ACTIONS);
        private List<String> ofLast = List.of();

        @Override
        public void event(DetectionEvent event) {
            classifier.enrich(event);
            event.actionFrom(actions::of);
            ofLast = new ArrayList<>();
            engine.detect(
                    event,
                    alert ->
                            ofLast.add(alert.rule().level() + " " + alert.rule().name()));
        }

        @Override
        public void deadLetter(Refusal refusal) {
            throw new AssertionError(refusal.code() + ": " + refusal.message());
        }
    }
}
