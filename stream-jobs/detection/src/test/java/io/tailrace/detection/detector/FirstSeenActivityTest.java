package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.sigma.rule.Level;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Accounts that are known by events without a table or program. */
class FirstSeenActivityTest {

    private static final double DAY = 24;

    private DetectorRun run;

    /** Monitoring reads the state of the server for days, and then a table of persons. */
    @Test
    void anAccountThatIsActiveWithoutTablesAccessesSensitiveData() {
        run = new DetectorRun("first_seen_table: {}");
        for (int day = 0; day < 5; day++) {
            run.at(day * DAY, "user", "pmm", "event_class", "query", "statement", "show global status");
        }
        run.at(4 * DAY + 1, "user", "pmm", "event_class", "query", "table", "performance_schema.accounts");
        run.at(5 * DAY, "user", "pmm", "event_class", "query", "table", "shop.persons", "data_class", "pii");

        assertThat(run.alerts())
                .extracting(
                        alert -> alert.facts().get("table") + " " + alert.rule().level())
                .containsExactly("performance_schema.accounts LOW", "shop.persons MEDIUM");
        assertThat(run.alerts().get(1).facts().get("explanation")).endsWith("It accessed no sensitive data before.");
    }

    @Test
    void anAccountThatAccessesSensitiveDataHasTheLowLevelForMoreOfThem() {
        run = new DetectorRun("first_seen_table: {}");
        for (int day = 0; day < 5; day++) {
            run.at(day * DAY, "user", "app", "table", "shop.persons", "data_class", "pii");
        }
        run.at(5 * DAY, "user", "app", "table", "shop.cards", "data_class", "pci");
        assertThat(run.alert().rule().level()).isEqualTo(Level.LOW);
    }

    @Test
    void anApplicationWhoseDriverSendsNoProgramIsUsedWithAClient() {
        run = new DetectorRun("first_seen_program: {}");
        String[] php = {"user", "web", "event_class", "connection", "connection_attribute._client_name", "mysqlnd"};
        for (int day = 0; day < 5; day++) {
            run.at(day * DAY, php);
            run.at(day * DAY, "user", "plain", "event_class", "connection"); // the log contains no attributes
        }
        run.at(5 * DAY, "user", "plain", "event_class", "connection", "program", "mysql");
        assertThat(run.alerts()).isEmpty();
        run.at(5 * DAY, "user", "web", "event_class", "connection", "program", "mysql");
        assertThat(run.alert().facts()).containsEntry("program", "mysql").containsEntry("known_values", "0");
    }

    @Test
    void anAccountWithoutTablesIsLearnedForFourDays() {
        run = new DetectorRun("first_seen_table: {}");
        run.at(0, "user", "new", "event_class", "query", "statement", "select ?");
        run.at(3 * DAY, "user", "new", "event_class", "query", "table", "shop.persons", "data_class", "pii");
        run.at(3 * DAY, "user", "old", "event_class", "connection", "outcome", "success");
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void anAccountThatReadsOneTableAfterTheOtherHasOneAlertOfMediumLevel() {
        run = new DetectorRun("first_seen_table: {}");
        readsOneTableForFiveDays("analyst");
        for (int i = 0; i < 9; i++) {
            run.at(5 * DAY + i / 60.0, "user", "analyst", "table", "hr.table" + (char) ('a' + i));
        }
        assertThat(run.alerts())
                .filteredOn(alert -> alert.rule().level() == Level.MEDIUM)
                .extracting(alert -> alert.facts().get("new_today"))
                .containsExactly("5");
    }

    @Test
    void changesOfASchemaAndCataloguesAreNotManyTables() {
        run = new DetectorRun("first_seen_table: {}");
        readsOneTableForFiveDays("dba");
        String[] tables = {
            "shop.orders",
            "shop._orders_new",
            "shop._orders_old",
            "shop._orders_gho",
            "information_schema.tables",
            "information_schema.columns",
            "sys.processlist",
            "shop.items"
        };
        for (int i = 0; i < tables.length; i++) {
            run.at(5 * DAY + i / 60.0, "user", "dba", "table", tables[i]);
        }
        assertThat(run.alerts()).isNotEmpty().allMatch(alert -> alert.rule().level() == Level.LOW);
    }

    @Test
    void anAccountThatOftenAccessesNewTablesHasNoAlertForMany() {
        run = new DetectorRun("first_seen_table: {learning: 5d}");
        for (int day = 0; day < 7; day++) {
            for (int i = 0; i < 7; i++) {
                run.at(day * DAY + i, "user", "etl", "table", "load.part" + (char) ('a' + day) + (char) ('a' + i));
            }
        }
        assertThat(run.alerts()).isNotEmpty().allMatch(alert -> alert.rule().level() == Level.LOW);
    }

    /** The file was written by version 3: one table on six days, and two new ones on the last of them. */
    @Test
    void stateOfVersionThreeDoesNotKnowHowManyTablesAreNew() throws IOException {
        StatefulDetector detector =
                DetectorRun.file("first_seen_table: {}").detectors().get(0);
        List<RaisedAlert> alerts = new ArrayList<>();
        try (InputStream bytes = getClass().getResourceAsStream("/detector-state/first-seen-version-3")) {
            DetectorState state = detector.readState(new DataInputStream(bytes));
            for (String table : List.of("hr.three", "hr.four", "hr.five", "hr.six", "hr.seven")) {
                detector.update(state, access(table, 5), alerts::add);
            }
            assertThat(alerts).as("a new table begins the learning again").isEmpty();
            for (int day = 6; day <= 10; day++) {
                detector.update(state, access("bi.sales", day), alerts::add);
            }
            detector.update(state, access("hr.one", 11), alerts::add);
            detector.update(state, access("hr.last", 11), alerts::add);
        }
        assertThat(alerts)
                .extracting(
                        alert -> alert.facts().get("table") + " " + alert.rule().level())
                .containsExactly("hr.last LOW");
    }

    private static Observation access(String table, int day) {
        long micros = DetectorRun.micros(DetectorRun.START) + (day * 24 + 3) * ExpiringValueSet.HOUR;
        List<String> entity = List.of("", "db1", "analyst");
        return new Observation("first_seen_table", entity, List.of(table), 0, micros, table, table, "", false);
    }

    private void readsOneTableForFiveDays(String user) {
        for (int day = 0; day < 5; day++) {
            run.at(day * DAY, "user", user, "table", "bi.sales");
        }
    }
}
