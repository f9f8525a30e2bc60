package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.sigma.rule.Level;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
    void oneSensitiveRowHasTheLowLevelAndSeveralHaveTheMediumLevel() {
        run = new DetectorRun("first_seen_table: {}");
        for (int day = 0; day < 15; day++) {
            run.at(day * DAY, "user", "dba", "table", "bi.sales");
        }
        run.at(15 * DAY, sensitive("select name from persons p where p.id = ? limit ?", "shop.persons"));
        run.at(15 * DAY, sensitive("select name from cards where id > ?", "shop.cards"));
        assertThat(run.alerts()).extracting(alert -> alert.rule().level()).containsExactly(Level.LOW, Level.MEDIUM);
    }

    @Test
    void aStatementAboutOneRowHidesNoLaterStatementAboutManyRowsOfTheTable() {
        run = new DetectorRun("first_seen_table: {}");
        for (int day = 0; day < 15; day++) {
            run.at(day * DAY, "user", "dba", "table", "bi.sales");
        }
        run.at(15 * DAY, sensitive("select name from persons where id = ?", "shop.persons"));
        run.at(20 * DAY, sensitive("select name from persons where id = ?", "shop.persons"));
        run.at(20 * DAY, sensitive("select * from persons where id > ?", "shop.persons"));
        run.at(21 * DAY, sensitive("select name from persons where id = ?", "shop.persons"));
        assertThat(run.alerts())
                .extracting(
                        alert -> alert.facts().get("table") + " " + alert.rule().level())
                .containsExactly("shop.persons (one row) LOW", "shop.persons MEDIUM");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select name from persons where active = ?",
                "select name from persons where tenant_id = ?",
                "select name from persons where status = ? limit ?",
                "delete from persons where country_id = ?"
            })
    void aConditionOfEqualityOnAnotherColumnThanAKeyIsAboutManyRows(String statement) {
        run = new DetectorRun("first_seen_table: {}");
        for (int day = 0; day < 15; day++) {
            run.at(day * DAY, "user", "dba", "table", "bi.sales");
        }
        run.at(15 * DAY, sensitive(statement, "shop.persons"));
        assertThat(run.alert().rule().level()).isEqualTo(Level.MEDIUM);
    }

    private static String[] sensitive(String statement, String table) {
        return new String[] {"user", "dba", "statement", statement, "table", table, "data_class", "pii"};
    }

    @Test
    void aNewTableAtAnHourWithoutEarlierActivityHasTheMediumLevel() {
        run = new DetectorRun("first_seen_table: {}");
        for (int day = 0; day < 15; day++) {
            run.at(day * DAY, "user", "desk", "table", "shop.visits");
        }
        run.at(15 * DAY, "user", "desk", "table", "shop.bills");
        run.at(15 * DAY + 9, "user", "desk", "table", "information_schema.tables");
        run.at(15 * DAY + 9, "user", "desk", "table", "shop.prescriptions");
        assertThat(run.alerts())
                .extracting(alert -> alert.rule().level())
                .containsExactly(Level.LOW, Level.LOW, Level.MEDIUM);
        assertThat(run.alerts().get(2).facts().get("explanation")).contains("never active within two hours");
    }

    @Test
    void maintenanceAtANewHourHasTheLowLevel() {
        run = new DetectorRun("first_seen_table: {}");
        for (int day = 0; day < 15; day++) {
            run.at(day * DAY, "user", "dba", "table", "shop.visits");
        }
        run.at(
                15 * DAY + 9,
                "user",
                "dba",
                "table",
                "shop.bills",
                "statement",
                "alter table bills row_format=compressed",
                "data_class",
                "pii");
        run.at(15 * DAY + 9, "user", "dba", "table", "shop.x", "statement", "alter table x discard tablespace");
        run.at(15 * DAY + 9, "user", "dba", "table", "shop.y", "statement", "create table y as select * from bills");
        assertThat(run.alerts())
                .extracting(alert -> alert.rule().level())
                .containsExactly(Level.LOW, Level.MEDIUM, Level.MEDIUM);
    }

    @Test
    void readingATableOfADataClassAfterItsMaintenanceIsNew() {
        run = new DetectorRun("first_seen_table: {}");
        for (int day = 0; day < 15; day++) {
            run.at(day * DAY, "user", "dba", "table", "shop.visits");
        }
        run.at(15 * DAY, sensitive("optimize table bills", "shop.bills"));
        run.at(15 * DAY, sensitive("select * from bills", "shop.bills"));
        run.at(15 * DAY, sensitive("analyze table bills", "shop.bills"));
        assertThat(run.alerts())
                .extracting(
                        alert -> alert.facts().get("table") + ' ' + alert.rule().level())
                .containsExactly("shop.bills (maintenance) LOW", "shop.bills MEDIUM");
    }

    @Test
    void allTablesOfADumpAreOneValueAndOneOfThemIsAnotherOne() {
        run = new DetectorRun("first_seen_table: {}");
        for (int day = 0; day < 15; day++) {
            run.at(day * DAY, "user", "saver", "event_class", "query", "statement", "show global status");
        }
        for (String table : List.of("shop.orders", "shop.visits", "shop.persons", "shop.cards", "shop.bills")) {
            run.at(15 * DAY, "user", "saver", "statement", "mysqldump", "table", table, "data_class", "pii");
        }
        assertThat(run.alert().rule().level()).isEqualTo(Level.LOW);
        assertThat(run.alert().facts()).containsEntry("table", "all tables (dump)");
        run.at(
                16 * DAY,
                "user",
                "saver",
                "statement",
                "select * from cards",
                "table",
                "shop.cards",
                "data_class",
                "pci");
        assertThat(run.alerts()).extracting(alert -> alert.rule().level()).containsExactly(Level.LOW, Level.MEDIUM);
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

    /** States of version 5 have no hours of accounts whose tables are observed. */
    @Test
    void theHoursOfAStateOfVersionFiveAreLearnedFirst() throws IOException {
        StatefulDetector detector =
                DetectorRun.file("first_seen_table: {}").detectors().get(0);
        List<RaisedAlert> alerts = new ArrayList<>();
        DetectorState state = detector.newState();
        worksFrom(detector, state, 0, 30);
        state = detector.readState(new DataInputStream(new ByteArrayInputStream(versionFive(state))));

        detector.update(state, access("hr.staff", 30, 12), alerts::add);
        worksFrom(detector, state, 30, 45);
        detector.update(state, access("hr.pay", 45, 20), alerts::add);

        assertThat(alerts).extracting(alert -> alert.rule().level()).containsExactly(Level.LOW, Level.MEDIUM);
    }

    /** States of version 6 do not contain whether an account used tables with data, so this is learned after the upgrade. */
    @ParameterizedTest
    @CsvSource({"1, none", "15, MEDIUM"})
    void valuesThatAStateOfVersionSixLacksAreLearnedFirst(int daysAfter, String level) throws IOException {
        StatefulDetector detector =
                DetectorRun.file("first_seen_read: {}").detectors().get(0);
        List<RaisedAlert> alerts = new ArrayList<>();
        DetectorState state = detector.newState();
        worksFrom(detector, state, 0, 30);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        state.write(new DataOutputStream(bytes));
        byte[] six = Arrays.copyOf(bytes.toByteArray(), bytes.size() - 1);
        six[0] = 6;
        state = detector.readState(new DataInputStream(new ByteArrayInputStream(six)));

        worksFrom(detector, state, 30, 30 + daysAfter);
        detector.update(state, access("tables with data", 30 + daysAfter), alerts::add);

        assertThat(alerts)
                .extracting(alert -> alert.rule().level().toString())
                .isEqualTo(level.equals("none") ? List.of() : List.of(level));
    }

    private static void worksFrom(StatefulDetector detector, DetectorState state, int from, int to) {
        for (int day = from; day < to; day++) {
            detector.update(state, access("bi.sales", day), alert -> {});
        }
    }

    /** Replaces the hours near the end of a state, a boolean, four integers and another boolean, by false: there are none. */
    private static byte[] versionFive(DetectorState state) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        state.write(new DataOutputStream(bytes));
        byte[] written = Arrays.copyOf(bytes.toByteArray(), bytes.size() - 4 * Integer.BYTES - 1);
        written[0] = 5;
        written[written.length - 1] = 0;
        return written;
    }

    private static Observation access(String table, int day) {
        return access(table, day, 3);
    }

    private static Observation access(String table, int day, int hour) {
        long micros = DetectorRun.micros(DetectorRun.START) + (day * 24 + hour) * ExpiringValueSet.HOUR;
        List<String> entity = List.of("", "db1", "analyst");
        return new Observation("first_seen_table", entity, List.of(table), 0, micros, table, table, "", false);
    }

    private void readsOneTableForFiveDays(String user) {
        for (int day = 0; day < 5; day++) {
            run.at(day * DAY, "user", user, "table", "bi.sales");
        }
    }
}
