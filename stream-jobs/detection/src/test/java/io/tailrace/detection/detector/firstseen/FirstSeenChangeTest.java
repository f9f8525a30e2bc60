package io.tailrace.detection.detector.firstseen;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.detector.DetectorRun;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The first time that an account changes a table, or columns of a kind. */
class FirstSeenChangeTest {

    private static final double DAY = 24;
    private static final int LEARNED = 15;

    private final DetectorRun run = new DetectorRun("first_seen_change: {}");

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "UPDATE; update players set reset_token = ?, reset_expires = ? where email = ?; secrets in app.t",
                "UPDATE; update `t` set `display_name`=?,`is_staff`=? where `id` = ?; rights in app.t",
                "UPDATE; update t a set a.iban=? where a.creator_id = ?; bank details in app.t",
                "UPDATE; update t set balance = balance + ? where player_id = ?; balances in app.t",
                "UPDATE; update t set role = ?, mfa_secret = ? where id = ?; secrets in app.t, rights in app.t",
                "INSERT; insert into t (id, iban, holder) values (?+) on duplicate key update iban = values(iban); bank details in app.t",
                "INSERT; insert into t (id, name) values (?+) on duplicate key update password_digest = ?; secrets in app.t",
                "INSERT; insert into t set login = ?, role_id = ?; rights in app.t",
                "REPLACE; replace into t (id, kennwort) values (?+); secrets in app.t",
                "UPDATE; update staff set rights = ? where login = ?; rights in app.t",
                "UPDATE; update t set amount_due = ?, state = ? where customer_no = ?; amounts in app.t",
                "UPDATE; update t set door_code = ? where id = ?; secrets in app.t",
                "UPDATE; update t set value = value * ? where device like ?; multiplied values in app.t",
                "UPDATE; update `t` set `x` = `t`.`x`/? where branch = ?; multiplied values in app.t",
                "UPDATE; update t set x = ?, y = round(y * ?, ?) where branch = ?; multiplied values in app.t",
                "UPDATE; update t set price = ? * price where branch = ?; amounts in app.t, multiplied values in app.t"
            })
    void anAccountSetsSensitiveColumnsForTheFirstTime(String verb, String statement, String kinds) {
        readsForTwoWeeks();
        change(LEARNED, verb, statement, "app.t");
        assertThat(run.alert().rule().level()).hasToString("MEDIUM");
        String update = verb.equals("UPDATE") ? "UPDATE app.t, " : "";
        assertThat(run.alert().facts()).containsEntry("change", update + kinds);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "UPDATE; update t set state = ? where id = ? and token = ?; UPDATE app.t",
                "UPDATE; update t set last_seen = ?, passenger = ?, rollout = ? where role_id = ?; UPDATE app.t",
                "UPDATE; update t set bsn = ?, funcao = ?, so_luong = ?, suma = ? where id = ?; UPDATE app.t",
                "UPDATE; update t set all_x = x * ?, n = n + ?, paid_at = ?, due = ? where id = ?; UPDATE app.t",
                "DELETE; delete from t where password = ?; DELETE app.t"
            })
    void anAccountThatReadsATableChangesIt(String verb, String statement, String change) {
        change(0, "UPDATE", "update u set state = ? where id = ?", "app.u");
        readsForTwoWeeks();
        change(LEARNED, verb, statement, "app.t");
        assertThat(run.alert().rule().level()).hasToString("LOW");
        assertThat(run.alert().facts()).containsEntry("change", change);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lab.wyniki_badan",
                "lab.results",
                "skola.betyg",
                "app.lims_result",
                "school.grades",
                "kurs.toetsresultaten"
            })
    void resultsOfAPersonAreChanged(String table) {
        change(0, "UPDATE", "update u set state = ? where id = ?", "app.u");
        readsForTwoWeeks();
        change(LEARNED, "UPDATE", "update t set x = ? where id = ?", table);
        assertThat(run.alert().rule().level()).hasToString("MEDIUM");
        assertThat(run.alert().facts()).containsEntry("change", "UPDATE " + table + ", results in " + table);
    }

    /** An officer who approves pay raises it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "update payroll set basic = ? where staff_id = ?; hr.payroll; pay in hr.payroll",
                "update loner set brutto = brutto + ? where anstalld_id = ?; lon.loner; pay in lon.loner",
                "update salaries set salary = ? where id = ?; hr.salaries; balances in hr.salaries",
                "update payroll set paid_at = ?, approved_by = ? where month = ?; hr.payroll; none",
                "update staff set basic = ? where id = ?; hr.staff; none"
            })
    void payIsChanged(String statement, String table, String kind) {
        change(0, "UPDATE", "update t set approved = ? where month = ?", table);
        readsForTwoWeeks();
        change(LEARNED, "UPDATE", statement, table);
        assertThat(run.alerts())
                .extracting(alert -> alert.facts().get("change"))
                .isEqualTo(kind.equals("none") ? List.of() : List.of(kind));
    }

    @Test
    void entriesOfALogOfAnApplicationAreChanged() {
        readsForTwoWeeks();
        change(LEARNED, "UPDATE", "update change_log set actor = ? where actor = ?", "app.change_log");
        assertThat(run.alert().rule().level()).hasToString("MEDIUM");
        assertThat(run.alert().facts().get("change")).endsWith("log entries in app.change_log");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "app.app_config",
                "app.feature_flags",
                "app.fee_tariffs",
                "app.price_rules",
                "app.scada_setpoints",
                "app.role_permissions",
                "app.einstellungen",
                "app.settings"
            })
    void settingsOfAnApplicationAreChanged(String table) {
        readsForTwoWeeks();
        change(LEARNED, "UPDATE", "update t set value = ? where name = ?", table);
        assertThat(run.alert().rule().level()).hasToString("MEDIUM");
        assertThat(run.alert().facts().get("change")).endsWith("settings in " + table);
    }

    @Test
    void insertedSettingsAndUsersWithSettingsAreNoSettings() {
        readsForTwoWeeks();
        change(LEARNED, "INSERT", "insert into app_config (name, value) values (?+)", "app.app_config");
        assertThat(run.alerts()).isEmpty();
        change(LEARNED, "UPDATE", "update t set seen = ?", "app.optional_items");
        assertThat(run.alert().facts()).containsEntry("change", "UPDATE app.optional_items");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "ALTER; alter table t add column x int; LOW",
                "GRANT; grant select on app.* to eva; LOW",
                "CREATE; create temporary table x (id int); MEDIUM",
                "SELECT; select ?; MEDIUM"
            })
    void theFirstChangeOfAnAccountThatNeitherChangedNorDefinedAnything(String verb, String before, String level) {
        run.at(0, "user", "eve", "verb", verb, "statement", before);
        readsForTwoWeeks();
        change(LEARNED, "DELETE", "delete from t where day between ? and ?", "app.t");
        assertThat(run.alert().rule().level()).hasToString(level);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "UPDATE; update u set state = ? where id = ?; MEDIUM",
                "CREATE; create table u (id int); LOW",
                "CREATE; create or replace definer=`a`@`%` function f() returns int return ?; none"
            })
    void theFirstStoredProgram(String verb, String before, String level) {
        change(0, verb, before, "app.u");
        readsForTwoWeeks();
        run.at(LEARNED * DAY, "user", "eve", "verb", "CREATE", "statement", "create procedure p() begin end");
        assertThat(run.alerts())
                .extracting(alert -> alert.rule().level().toString())
                .isEqualTo(level.equals("none") ? List.of() : List.of(level));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "CREATE; create table scratch.a as select * from t where id < ?; copied tables",
                "CREATE; create or replace table s.a select id from t; copied tables",
                "DROP; drop table if exists t; dropped tables",
                "DROP; drop database app; dropped tables"
            })
    void anAccountThatDefinedNothingCopiesOrDropsTables(String verb, String statement, String change) {
        change(0, "UPDATE", "update u set state = ? where id = ?", "app.u");
        readsForTwoWeeks();
        change(LEARNED, verb, statement, "app.t");
        assertThat(run.alert().rule().level()).hasToString("MEDIUM");
        assertThat(run.alert().facts()).containsEntry("change", change);
        assertThat(run.alert().facts().get("explanation")).endsWith("It defined nothing before.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "set new.iban = if(new.amount > ?, ?, new.iban); stored programs, bank details by stored programs",
                "set new.`balance` = ?, new.role = ?; stored programs, balances by stored programs, rights by stored programs",
                "set new.total = new.price * ?, new.token = uuid(); stored programs"
            })
    void aTriggerSetsSensitiveColumns(String body, String change) {
        readsForTwoWeeks();
        change(LEARNED, "CREATE", "create trigger g before insert on t for each row " + body, "app.t");
        assertThat(run.alert().facts()).containsEntry("change", change);
    }

    @Test
    void aNewAccountChangesSettings() {
        change(0, "UPDATE", "update t set state = ? where id = ?", "app.t");
        change(0, "UPDATE", "update app_settings set value = ? where name = ?", "app.app_settings");
        assertThat(run.alert().rule().level()).hasToString("MEDIUM");
        assertThat(run.alert().facts().get("explanation"))
                .endsWith("The account is new, but the log of the instance is not.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "update t set iban = ? where id = ?; 8; bank details in app.t at an unusual hour",
                "update t set iban = ? where id = ?; 2; none",
                "update t set amount = ? where id = ?; 8; none"
            })
    void bankDetailsAreChangedAtAnHourAtWhichTheAccountIsNeverActive(String statement, double hour, String change) {
        for (int day = 0; day < LEARNED; day++) {
            change(day, "UPDATE", statement, "app.t");
        }
        for (double day : new double[] {LEARNED, LEARNED + 1}) {
            run.at(day * DAY + hour, "user", "eve", "verb", "UPDATE", "table_written", "app.t", "statement", statement);
        }
        assertThat(run.alerts())
                .extracting(alert -> alert.facts().get("change"))
                .isEqualTo(change.equals("none") ? List.of() : List.of(change));
    }

    @Test
    void applicationsThatSetPasswordsEveryDayAndRefusedStatementsAreNotReported() {
        for (int day = 0; day < 20; day++) {
            change(day, "UPDATE", "update t set password = ? where id = ?", "app.t");
        }
        run.at(20 * DAY, "user", "eve", "verb", "DELETE", "table_written", "app.t", "outcome", "failure");
        run.at(
                20 * DAY,
                "user",
                "eve",
                "verb",
                "INSERT",
                "table_written",
                "app.u",
                "statement",
                "insert into u values (?+)");
        assertThat(run.alerts()).isEmpty();
    }

    private void readsForTwoWeeks() {
        for (int day = 0; day < LEARNED; day++) {
            run.at(day * DAY, "user", "eve", "verb", "SELECT", "table", "app.t", "statement", "select ?");
        }
        assertThat(List.copyOf(run.alerts())).isEmpty();
    }

    private void change(int day, String verb, String statement, String table) {
        run.at(day * DAY, "user", "eve", "verb", verb, "table_written", table, "statement", statement);
    }
}
