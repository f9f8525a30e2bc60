package io.tailrace.detection.detector.firstseen;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.detector.DetectorRun;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The first time that an account reads sensitive columns, or all rows of a table. */
class FirstSeenReadTest {

    private static final double DAY = 24;
    private static final int LEARNED = 15;

    private final DetectorRun run = new DetectorRun("first_seen_read: {}");

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "select login, pwd_hash from t where rights > ?; app.t; MEDIUM; secrets in app.t",
                "select t.id, t.direct_debit_iban from t where postcode = ?; app.t; MEDIUM; bank details in app.t",
                "select pin from lockers where locker = ?; app.lockers; MEDIUM; secrets in app.lockers",
                "select * from members; app.members; MEDIUM; all persons of app.members",
                "select surname, born from `app`.`patrons` p order by surname; app.patrons; MEDIUM; all persons of app.patrons",
                "select person, amount from salaries where month = ?; hr.salaries; MEDIUM; pay in hr.salaries",
                "select gehalt from t where id = ?; app.t; MEDIUM; pay in app.t",
                "select name, bsn from t where id = ?; app.t; MEDIUM; identity numbers in app.t",
                "select t.fodsels_nr from t where id = ?; app.t; MEDIUM; identity numbers in app.t",
                "table parcels; app.parcels; LOW; all rows of app.parcels",
                "select place, note from parcels; app.parcels; LOW; all rows of app.parcels"
            })
    void anAccountReadsWhatItNeverRead(String statement, String table, String level, String read) {
        looksUpForTwoWeeks();
        read(LEARNED, statement, table);
        assertThat(run.alert().rule().level()).hasToString(level);
        assertThat(run.alert().facts()).containsEntry("read", read);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select name from members where pwd_hash = ?",
                "select count(*) from members",
                "select id from members",
                "select liczba_dni, tax_id, so_luong, rdv_pris from members where id = ?",
                "select distinct branch_id from members",
                "select * from members limit ?",
                "select * from members order by created_at desc limit ?",
                "select * from members where branch_id = ?",
                "select name from members where id in (select id from loans)",
                "select state, max(day) from members group by state"
            })
    void partsOfATableAndItsTotals(String statement) {
        looksUpForTwoWeeks();
        read(LEARNED, statement, "app.members");
        assertThat(run.alerts()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0, LOW", "2, LOW", "3, MEDIUM", "21, MEDIUM", "22, LOW"})
    void anHourAtWhichTheAccountWasNeverActiveHasTheMediumLevel(int hour, String level) {
        looksUpForTwoWeeks();
        double at = LEARNED * DAY + hour;
        run.at(at, "user", "eve", "verb", "SELECT", "statement", "select ?");
        run.at(at, "user", "eve", "verb", "SELECT", "table_read", "app.parcels", "statement", "select * from parcels");
        assertThat(run.alert().rule().level()).hasToString(level);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "select id, pwd_hash from users limit ?; secrets in app.users (many rows)",
                "select pwd_hash from users order by id limit ?, ?; secrets in app.users (many rows)",
                "select pwd_hash from users where id > ? limit ?; none",
                "select max(pwd_hash) from users; none"
            })
    void anAccountThatReadsSecretsOfOneReadsThoseOfMany(String statement, String read) {
        for (int day = 0; day < LEARNED; day++) {
            read(day, "select pwd_hash from users where login = ?", "app.users");
        }
        read(LEARNED, statement, "app.users");
        assertThat(run.alerts())
                .extracting(
                        alert -> alert.facts().get("read") + " " + alert.rule().level())
                .isEqualTo(read.equals("none") ? List.of() : List.of(read + " MEDIUM"));
    }

    @ParameterizedTest
    @CsvSource({
        "SELECT, table_read, app.t, MEDIUM",
        "INSERT, table_written, app.t, MEDIUM",
        "SELECT, table_read, performance_schema.threads, none",
        "ALTER, table_written, app.t, none"
    })
    void anAccountThatOnlyReadsCataloguesUsesATable(String verb, String field, String table, String level) {
        for (int day = 0; day < LEARNED; day++) {
            run.at(day * DAY, "user", "eve", "verb", "SHOW", "statement", "show global status");
            read(day, "select state from processlist", "information_schema.processlist");
        }
        run.at(
                LEARNED * DAY,
                "user",
                "eve",
                "verb",
                verb,
                field,
                table,
                "statement",
                "select name from t where id = ?");
        assertThat(run.alerts())
                .extracting(alert -> alert.rule().level().toString())
                .isEqualTo(level.equals("none") ? List.of() : List.of(level));
    }

    @Test
    void aCopyReadsAllRows() {
        looksUpForTwoWeeks();
        String copy = "create table scratch.c? as select * from app.clients";
        run.at(LEARNED * DAY, "user", "eve", "verb", "CREATE", "table_read", "app.clients", "statement", copy);
        assertThat(run.alert().facts()).containsEntry("read", "all persons of app.clients");
    }

    @Test
    void aConditionThatIsAlwaysTrueSelectsAllRows() {
        looksUpForTwoWeeks();
        run.at(
                LEARNED * DAY,
                "user",
                "eve",
                "verb",
                "SELECT",
                "table_read",
                "app.members",
                "flag",
                "every_row",
                "statement",
                "select * from members where ? = ?");
        assertThat(run.alert().facts()).containsEntry("read", "all persons of app.members");
    }

    @Test
    void cataloguesAndAccountsThatReadAllRowsEveryDayAreNotReported() {
        for (int day = 0; day < 20; day++) {
            read(day, "select * from members", "app.members");
        }
        read(20, "select * from plugins", "information_schema.plugins");
        assertThat(run.alerts()).isEmpty();
    }

    private void looksUpForTwoWeeks() {
        for (int day = 0; day < LEARNED; day++) {
            read(day, "select name from t where id = ?", "app.t");
        }
        assertThat(run.alerts()).isEmpty();
    }

    private void read(int day, String statement, String table) {
        run.at(day * DAY, "user", "eve", "verb", "SELECT", "table_read", table, "statement", statement);
    }
}
