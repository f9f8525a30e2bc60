package io.tailrace.detection.detector.volume;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.detector.DetectorRun;
import org.junit.jupiter.api.Test;

/** Rows that an account reads by their keys on most days, and one day far more often. */
class ReadVolumeTest {

    private static final double DAY = 24;
    private static final int LEARNED = 15;
    private static final String BOOKING = "select day, place from bookings where id = ?";

    private final DetectorRun run = new DetectorRun("volume_reads: {}");

    @Test
    void aNightOfReadsThroughTheAccountOfAnApplication() {
        everyDay(LEARNED, 40);
        hour(LEARNED, 2, 800);
        assertThat(run.alert().facts()).containsEntry("part", "SELECT app.bookings");
        assertThat(run.alert().facts().get("explanation")).contains("that read rows by single values within one hour");
    }

    @Test
    void readsThatAreSpreadOverADay() {
        everyDay(LEARNED, 40);
        for (int hour = 0; hour < 24; hour++) {
            hour(LEARNED, hour, 60);
        }
        assertThat(run.alert().facts().get("explanation")).contains("that read rows by single values on ");
    }

    @Test
    void twiceAsManyReadsAreUsual() {
        everyDay(LEARNED, 300);
        for (int hour = 8; hour < 18; hour++) {
            hour(LEARNED, hour, 60);
        }
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aTableThatIsNewHasNoPast() {
        everyDay(LEARNED, 40);
        for (int i = 0; i < 3_000; i++) {
            statement(LEARNED, i, "select a from novelties where id = ?", "app.novelties");
        }
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void sensitiveRowsAreOfTheOtherDetector() {
        for (int day = 0; day < LEARNED; day++) {
            for (int i = 0; i < 40; i++) {
                statement(day, 600 + i, "select iban from clients where id = ?", "app.clients");
            }
        }
        for (int i = 0; i < 3_000; i++) {
            statement(LEARNED, i, "select iban from clients where id = ?", "app.clients");
        }
        assertThat(run.alerts()).isEmpty();
    }

    private void everyDay(int days, int reads) {
        for (int day = 0; day < days; day++) {
            for (int i = 0; i < reads; i++) {
                statement(day, 540 + i, BOOKING, "app.bookings");
            }
        }
    }

    private void hour(int day, int hour, int reads) {
        for (int i = 0; i < reads; i++) {
            statement(day, 60 * hour + i * 59 / reads, BOOKING, "app.bookings");
        }
    }

    private void statement(int day, int minute, String statement, String table) {
        String[] fields = {"user", "web", "verb", "SELECT", "statement", statement, "query_id", table, "table", table};
        run.at(day * DAY + minute / 60.0, fields);
    }
}
