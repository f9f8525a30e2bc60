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
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Hours with a far higher amount than the same hour of other weeks. */
class VolumeDetectorTest {

    private static final double DAY = 24;

    private DetectorRun run;

    @Test
    void farMoreRowsThanUsual() {
        start("volume_rows: {}");
        rowsOfDays(16, 3000);
        run.slow(16 * DAY + 9, "user", "app", "rows_sent", "15000", "statement", "select a");
        run.slow(16 * DAY + 9.1, "user", "app", "rows_sent", "9000", "statement", "select b");
        assertThat(run.alerts())
                .as("eight times the median is not more than eight times")
                .isEmpty();
        run.slow(16 * DAY + 9.2, "user", "app", "rows_sent", "4000", "statement", "select c");

        RaisedAlert alert = run.alert();
        assertThat(alert.metric()).isEqualTo(28_000);
        assertThat(alert.windowFrom())
                .isEqualTo(DetectorRun.micros(DetectorRun.START) + (16 * 24 + 9) * ExpiringValueSet.HOUR);
        assertThat(alert.statements()).contains("select a", "select b", "select c");
        assertThat(Double.parseDouble(alert.facts().get("baseline_median"))).isBetween(2700.0, 3300.0);
        assertThat(alert.facts()).containsEntry("baseline_of", "this hour of other weeks");
        run.slow(16 * DAY + 9.3, "user", "app", "rows_sent", "90000");
        assertThat(run.alerts()).as("once an hour").hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"database, shop, 0", "data_access, known, 1", "data_access, unknown, 1", "flag, tables_incomplete, 1"})
    void rowsThatMayBeSensitiveHaveTheLowerLimit(String field, String value, int alerts) {
        start("volume_query_rows: {}");
        pages(25, field, value);
        assertThat(run.alerts()).hasSize(alerts);
    }

    @Test
    void manyRowsWithoutADataClassExceedTheHigherLimit() {
        start("volume_query_rows: {}");
        pages(42, "database", "shop");
        assertThat(run.alert().facts()).containsEntry("threshold", "40000");
    }

    @Test
    void aJobThatReadsSeveralTablesIsReportedOnceAnHour() {
        start("volume_query_rows: {}");
        pages(42, "database", "shop");
        String[] sizes = {"41000", "42000", "43000"};
        double[] hours = {9.5, 9.6, 11};
        for (int i = 0; i < sizes.length; i++) {
            run.slow(16 * DAY + hours[i], "user", "app", "rows_sent", sizes[i], "query_id", "C" + i, "table", "orders");
        }
        run.slow(
                16 * DAY + 11.5,
                "user",
                "app",
                "rows_sent",
                "44000",
                "query_id",
                "D",
                "table",
                "cards",
                "data_access",
                "known");
        assertThat(run.alerts())
                .extracting(alert -> alert.rule().level())
                .containsExactly(Level.MEDIUM, Level.LOW, Level.LOW, Level.MEDIUM, Level.MEDIUM);
    }

    /** Reads 1,000 rows of a table so often within one hour, after 16 days with another statement. */
    private void pages(int count, String field, String value) {
        for (int day = 0; day < 16; day++) {
            run.slow(day * DAY, "user", "app", "rows_sent", "3000", "query_id", "A", "table", "orders");
        }
        for (int page = 0; page < count; page++) {
            double hours = 16 * DAY + 9 + page / 100.0;
            run.slow(hours, "user", "app", "rows_sent", "1000", "query_id", "B", "table", "orders", field, value);
        }
    }

    @Test
    void growthOfTheLastWeekIsExpected() {
        start("volume_rows: {}");
        for (int day = 0; day < 28; day++) {
            for (int hour = 9; hour < 17; hour++) {
                run.slow(day * DAY + hour, "user", "app", "rows_sent", day < 21 ? "4000" : "7000");
            }
        }
        run.slow(28 * DAY + 9, "user", "app", "rows_sent", "45000");
        assertThat(run.alerts())
                .as("more than eight times the median of all weeks")
                .isEmpty();
        run.slow(28 * DAY + 9.1, "user", "app", "rows_sent", "25000");

        assertThat(run.alert().facts().get("explanation"))
                .isEqualTo("app has 70,000 rows sent in the hour from 2026-10-05T09:00:00Z; at most"
                        + " 55,109 were expected, because the median of 8 comparable hours of other weeks is 6,889.");
    }

    @Test
    void manyTablesInADayButFewInEachHour() {
        start("volume_tables: {}");
        for (int day = 0; day < 16; day++) {
            run.at(day * DAY + 9, "user", "app", "table", "s.a,s.b,s.t" + day % 4);
        }
        for (int i = 0; i < 24; i++) {
            run.at(16 * DAY + 8 + i / 3.0, "user", "app", "table", "s.new" + i);
        }

        assertThat(run.alert().facts())
                .containsEntry("counted", "tables of the day")
                .containsEntry("baseline_median", "3")
                .containsEntry("threshold", "20");
    }

    /** The file was written by version 1: two tables in each of three hours of sixteen days. */
    @Test
    void stateOfVersionOneKeepsItsHours() throws IOException {
        StatefulDetector detector =
                DetectorRun.file("volume_tables: {}").detectors().get(0);
        List<RaisedAlert> alerts = new ArrayList<>();
        try (InputStream bytes = getClass().getResourceAsStream("/detector-state/volume-version-1")) {
            DetectorState state = detector.readState(new DataInputStream(bytes));
            for (int i = 0; i < 24; i++) {
                long micros = DetectorRun.micros(DetectorRun.START) + (16 * 24 + 10) * ExpiringValueSet.HOUR;
                detector.update(
                        state,
                        new Observation(
                                "volume_tables",
                                List.of("", "db1", "app"),
                                List.of("s.t" + i),
                                1,
                                micros,
                                "e" + i,
                                "e" + i,
                                "",
                                false),
                        alerts::add);
            }
        }
        assertThat(alerts).singleElement().satisfies(alert -> assertThat(alert.facts())
                .containsEntry("counted", "tables")
                .containsEntry("baseline_median", "2"));
    }

    @Test
    void volumeIsLearnedFirst() {
        start("volume_rows: {}");
        rowsOfDays(10, 3000);
        run.slow(10 * DAY + 9, "user", "app", "rows_sent", "500000");
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void anEventThatComesTwiceCountsOnce() {
        start("volume_rows: {}");
        rowsOfDays(16, 3000);
        for (int i = 0; i < 5; i++) {
            run.event("same", 16 * DAY + 9, "slowlog", "user", "app", "rows_sent", "20000");
        }
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aStatementOfTwoLogsCountsOnceInEach() {
        start("volume_statements: {min_amount: 10, learning: 1d}");
        for (int hour = 0; hour < 72; hour++) {
            run.event("a" + hour, hour, "audit", "user", "app").event("g" + hour, hour, "general", "user", "app");
        }
        for (int i = 0; i < 10; i++) {
            run.event("x" + i, 72, "audit", "user", "app").event("y" + i, 72, "general", "user", "app");
        }
        assertThat(run.alerts()).isEmpty();
        run.event("xx", 72, "audit", "user", "app").event("yy", 72, "general", "user", "app");
        assertThat(run.alerts())
                .extracting(RaisedAlert::id)
                .hasSize(2)
                .containsOnly(run.alerts().get(0).id());
    }

    @Test
    void lateRowsCountInTheirHour() {
        start("volume_rows: {}");
        rowsOfDays(16, 3000);
        run.slow(16 * DAY + 9.5, "user", "app", "rows_sent", "15000");
        run.slow(16 * DAY + 10.5, "user", "app", "rows_sent", "20");
        run.slow(16 * DAY + 9.9, "user", "app", "rows_sent", "15000");
        assertThat(run.alert().metric()).isEqualTo(30_000);
    }

    private void rowsOfDays(int days, int rows) {
        for (int day = 0; day < days; day++) {
            for (int hour = 8; hour < 12; hour++) {
                run.slow(day * DAY + hour, "user", "app", "rows_sent", Integer.toString(rows + day * 20));
            }
        }
    }

    @Test
    void farMoreTablesThanUsual() {
        start("volume_tables: {}");
        for (int hour = 0; hour < 16 * 24; hour++) {
            run.at(hour, "user", "app", "table", "shop.a,shop.b");
        }
        for (int i = 0; i < 30; i++) {
            run.at(16 * DAY, "user", "app", "table", "shop.a,shop.b,other.t" + i / 3);
        }
        assertThat(run.alerts()).isEmpty();
        for (int i = 0; i < 30; i++) {
            run.at(16 * DAY, "user", "app", "table", "other.t" + i);
        }
        assertThat(run.alert().metric()).isEqualTo(21);
    }

    @Test
    void anEventOfTheFutureIsNotObserved() {
        start("dormant_account: {}\nvolume_rows: {}\n");
        rowsOfDays(16, 3000);
        run.slow(24 * 365 * 70, "user", "app", "rows_sent", "1");
        assertThat(run.alerts()).isEmpty();
        run.slow(16 * DAY + 9, "user", "app", "rows_sent", "900000");
        assertThat(run.alerts()).hasSize(1);
    }

    /** Tools of reports read tables once a week. */
    @Test
    void theAmountOfAJobOfTheSameHourInTwoEarlierWeeksIsUsual() {
        assertThat(alertsOfReports(Map.of(1, "30000", 8, "32000", 18, "36000", 19, "60000", 21, "60000")))
                .as("the third week, ten days later, twice as many, as many as two days before")
                .containsExactly(0, 0, 0, 1, 2);
    }

    @Test
    void oneLargeHourIsNoHabit() {
        assertThat(alertsOfReports(Map.of(8, "30000", 15, "30000", 21, "30000")))
                .as("a week after one hour, and a week after two hours a week apart")
                .containsExactly(0, 1, 1);
    }

    /** Returns the number of alerts after each report, by its day; the account sends 30 rows in the other hours. */
    private List<Integer> alertsOfReports(Map<Integer, String> reports) {
        start("volume_rows: {}");
        List<Integer> alerts = new ArrayList<>();
        for (int day = 0; day < 22; day++) {
            for (int hour = 9; hour < 17; hour++) {
                run.slow(day * DAY + hour, "user", "app", "rows_sent", "30");
            }
            if (reports.containsKey(day)) {
                run.slow(day * DAY + 20, "user", "app", "rows_sent", reports.get(day));
                alerts.add(run.alerts().size());
            }
        }
        return alerts;
    }

    private void start(String yaml) {
        run = new DetectorRun(yaml);
    }
}
