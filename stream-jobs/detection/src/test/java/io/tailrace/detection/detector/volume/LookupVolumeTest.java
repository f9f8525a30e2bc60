package io.tailrace.detection.detector.volume;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.detector.DetectorRun;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sensitive rows that an account reads or changes one by one. */
class LookupVolumeTest {

    private static final double DAY = 24;
    private static final int LEARNED = 15;
    private static final String IBAN = "select iban from clients where id = ?";

    private final DetectorRun run = new DetectorRun("volume_lookups: {}");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select iban from clients where id = ?",
                "select c.full_name, c.direct_debit_iban from app.clients c where c.postcode = ? limit ?",
                "select door_code from `addresses` where id in (?+) and deleted is null",
                "select id, pwd_hash from staff where login = ? and state <> ? order by id limit ?",
                "update fees set paid = amount, reason = ? where patron_id = ? and paid < amount",
                "update accounts a set a.balance = a.balance + ? where a.id = ?",
                "update staff set rights = ? where login = ?"
            })
    void sensitiveRowsByAValue(String statement) {
        assertThat(LookupStatements.isSensitive(statement, "app.t")).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select name from clients where id = ?",
                "select iban from clients where id > ?",
                "select iban from clients where name like ? order by name limit ?",
                "select iban from clients where id = ? or id = ?",
                "select iban from clients c join t on t.id = c.id where c.id = ?",
                "select iban from clients where id = (select max(id) from t)",
                "update clients set seen = ? where id = ?",
                "update clients set iban = ?",
                "delete from clients where iban = ?"
            })
    void otherStatements(String statement) {
        assertThat(LookupStatements.isSensitive(statement, "app.t")).isFalse();
    }

    @Test
    void aTableOfCodesIsSensitiveByItsName() {
        assertThat(LookupStatements.isSensitive("select code from gate_codes where site = ?", "app.gate_codes"))
                .isTrue();
        assertThat(LookupStatements.isSensitive("select code from promo_codes where id = ?", "app.promo_codes"))
                .isFalse();
    }

    @Test
    void aPersonReadsManyRowsOneByOne() {
        everyDay(LEARNED, 3);
        for (int i = 0; i < 40; i++) {
            statement(LEARNED, 20 * i, IBAN, "i");
        }
        assertThat(run.alert().facts())
                .containsEntry("part", "SELECT app.clients")
                .containsEntry("threshold", "25");
        assertThat(run.alert().metric()).isEqualTo(25);
        assertThat(run.alert().facts().get("explanation"))
                .contains("that read or change sensitive rows by single values")
                .endsWith("because the median of 15 earlier days is 3.");
    }

    @Test
    void anHourWithFarMoreReadsThanEveryEarlierHour() {
        everyDay(LEARNED, 2);
        reads(LEARNED, 14);
        assertThat(run.alert().facts())
                .containsEntry("part", "SELECT app.clients")
                .containsEntry("threshold", "10")
                .containsEntry("largest_hour", "2");
        assertThat(run.alert().metric()).isEqualTo(11);
        assertThat(run.alert().facts().get("explanation"))
                .endsWith("within one hour; at most 10 were expected, because the largest of the earlier hours is 2.");
    }

    @Test
    void hoursOfFewDaysAreNotCompared() {
        run.at(0, "user", "eve", "verb", "SELECT", "statement", "select ?", "query_id", "a");
        for (int day = LEARNED; day < LEARNED + 4; day++) {
            reads(day, 2);
        }
        reads(LEARNED + 4, 14);
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void hoursAreCountedAfterTheUpdateOfAStateWithoutThem() throws IOException {
        TableParts parts = new TableParts(1);
        for (int day = 0; day < 9; day++) {
            parts.count(day, 24 * day, 10, 1);
        }
        for (int i = 0; i < 10; i++) {
            parts.count(8, 24 * 8, 10, 1);
        }
        assertThat(parts.hasUnusualHour(10)).isTrue();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        parts.write(new DataOutputStream(bytes));
        TableParts old = TableParts.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), false);
        for (int i = 0; i < 12; i++) {
            old.count(9, 24 * 9, 10, 1);
        }
        assertThat(old.hasUnusualHour(10)).isFalse();
        assertThat(old.days.amount(8)).isEqualTo(parts.days.amount(8));
    }

    @Test
    void anHourThatWasReportedIsNoHabit() {
        everyDay(LEARNED, 2);
        reads(LEARNED, 60);
        reads(LEARNED + 1, 60);
        assertThat(run.alerts())
                .extracting(alert -> alert.facts().get("threshold"))
                .containsExactly("10", "40");
    }

    @Test
    void rowsOfADataClassAreSensitive() {
        for (int i = 0; i < 40; i++) {
            statement(0, i, "select ?", "a");
        }
        for (int i = 0; i < 40; i++) {
            String[] fields = {
                "user",
                "eve",
                "verb",
                "SELECT",
                "statement",
                "select * from clients where id = ?",
                "query_id",
                "b",
                "table",
                "app.clients",
                "data_class_read",
                "pii"
            };
            run.at(LEARNED * DAY + 8 + i / 60.0, fields);
        }
        assertThat(run.alert().facts()).containsEntry("part", "SELECT app.clients");
    }

    @Test
    void aBusyDeskAndAFewMoreRowsAreNotReported() {
        everyDay(LEARNED, 30);
        reads(LEARNED, 150);
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void nothingIsReportedWhileAnAccountIsLearned() {
        everyDay(3, 1);
        reads(3, 100);
        assertThat(run.alerts()).isEmpty();
    }

    private void everyDay(int days, int number) {
        for (int day = 0; day < days; day++) {
            reads(day, number);
        }
    }

    private void reads(int day, int number) {
        for (int i = 0; i < number; i++) {
            statement(day, i, IBAN, "i");
        }
    }

    private void statement(int day, int minute, String statement, String query) {
        String[] fields = {
            "user", "eve", "verb", "SELECT", "statement", statement, "query_id", query, "table", "app.clients"
        };
        run.at(day * DAY + 8 + minute / 60.0, fields);
    }
}
