package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.sigma.rule.Level;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DetectorsTest {

    private static final double DAY = 24;
    private static final double WEEK = 7 * DAY;

    private DetectorRun run;

    @Test
    void aUserFromANewNetwork() {
        start("first_seen_host: {level: high}");
        daily("10.0.0.5", 15);
        run.at(15 * DAY, "user", "app", "host", "10.0.0.99");
        assertThat(run.alerts()).as("the same network").isEmpty();
        run.at(15 * DAY + 1, "user", "app", "host", "10.9.0.5", "statement", "select ?");

        assertThat(run.alert().entity()).containsEntry("user", "app").containsEntry("instance", "db1");
        assertThat(run.alert().facts()).containsEntry("host", "10.9.0.0/24").containsEntry("known_values", "1");
        assertThat(run.alert().statements()).containsExactly("select ?");
        assertThat(run.alert().rule().level()).isEqualTo(Level.HIGH);
        run.at(15 * DAY + 2, "user", "app", "host", "10.9.0.7");
        assertThat(run.alerts()).as("not new any more").hasSize(1);
    }

    @Test
    void whatIsNewForANewUserIsLearned() {
        start("first_seen_host: {}");
        daily("10.0.0.5", 20);
        run.at(20 * DAY, "user", "new", "host", "10.1.0.1").at(21 * DAY, "user", "new", "host", "10.2.0.1");
        assertThat(run.alerts()).isEmpty();
        run.at(26 * DAY, "user", "new", "host", "10.3.0.1");
        assertThat(run.alerts()).as("was away").isEmpty();
        run.at(30 * DAY + 1, "user", "new", "host", "10.3.0.1").at(30 * DAY + 3, "user", "new", "host", "10.4.0.1");
        assertThat(run.alerts()).as("nothing new for the settling period").hasSize(1);
    }

    @Test
    void refusedLoginsTeachNothing() {
        start("first_seen_host: {}");
        daily("10.0.0.5", 20);
        run.at(20 * DAY, "user", "app", "host", "10.66.0.1", "event_class", "connection", "outcome", "failure");
        assertThat(run.alerts()).isEmpty();
        run.at(20 * DAY + 1, "user", "app", "host", "10.66.0.1", "event_class", "connection");
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void anEntityWithoutHabitsIsLeftAlone() {
        start("first_seen_host: {max_values: 4, max_alerts_per_day: 2}");
        daily("10.0.0.5", 20);
        for (int i = 0; i < 20; i++) {
            run.at(20 * DAY + i / 10.0, "user", "app", "host", "10.66." + i + ".1");
        }
        assertThat(run.alerts()).as("two a day, and what else was new").hasSize(3);
        run.at(22 * DAY, "user", "app", "host", "10.67.0.1");
        assertThat(run.alerts()).as("more values than it may have").hasSize(3);
    }

    @Test
    void aNewUserProgramTableAndClass() {
        start("first_seen_user: {}\nfirst_seen_program: {}\nfirst_seen_table: {}\nfirst_seen_data_class: {}\n");
        for (int day = 0; day < 16; day++) {
            run.at(day * DAY, "user", "app", "program", "shop", "table", "shop.orders", "data_class", "pii");
        }
        run.at(16 * DAY, "user", "app", "program", "mysql", "table", "shop.orders");
        run.at(16 * DAY, "user", "app", "program", "shop", "table", "shop.orders,mysql.user", "data_class", "pii,pci");
        run.at(16 * DAY, "user", "eve", "program", "shop", "table", "shop.orders");

        assertThat(run.alerts())
                .extracting(alert -> alert.rule().name() + " " + alert.entity() + " " + alert.facts())
                .satisfiesExactly(
                        text -> assertThat(text).contains("first_seen_program", "user=app", "program=mysql"),
                        text -> assertThat(text).contains("first_seen_table", "user=app", "table=mysql.user"),
                        text -> assertThat(text).contains("first_seen_data_class", "program=shop", "data_class=pci"),
                        text -> assertThat(text).contains("first_seen_user", "user=eve"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"})
    void anAccountThatWasAlwaysLocalComesFromElsewhere(String local) {
        start("first_seen_host: {}");
        daily(local, 15);
        run.at(15 * DAY, "user", "app", "host", "127.0.0.1").at(15 * DAY, "user", "app", "host", "localhost");
        assertThat(run.alerts()).isEmpty();
        run.at(15 * DAY + 1, "user", "app", "host", "203.0.113.7");

        assertThat(run.alert().facts())
                .containsEntry("host", "203.0.113.0/24")
                .containsEntry("known_values", "1")
                .doesNotContainKey("new_today");
    }

    @Test
    void aLocalClientIsNotNew() {
        start("first_seen_host: {}");
        daily("10.0.0.5", 15);
        run.at(15 * DAY, "user", "app", "host", "localhost");
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aNewStatementOfAnApplicationButNotDuringItsReleases() {
        start(
                """
                first_seen_statement:
                  exceptions:
                    - user: app
                      timestamp|hour: 6
                """);
        for (int day = 0; day < 16; day++) {
            run.at(day * DAY, "event_class", "query", "user", "app", "query_id", "a1");
        }
        run.at(16 * DAY, "event_class", "query", "user", "app", "query_id", "b2", "timestamp", "2026-09-20T06:10:00Z");
        assertThat(run.alerts()).isEmpty();
        run.at(
                16 * DAY + 1,
                "event_class",
                "query",
                "user",
                "app",
                "query_id",
                "c3",
                "timestamp",
                "2026-09-20T07:10:00Z");

        assertThat(run.alert().facts()).containsEntry("query_id", "c3").containsEntry("known_values", "1");
    }

    @Test
    void decoysHideNoTableOfSensitiveData() {
        start("first_seen_table: {}");
        learnOrders();
        for (int i = 0; i < 3; i++) {
            run.at(15 * DAY + i / 10.0, "user", "app", "table", "shop.decoy" + i);
        }
        assertThat(run.alerts()).hasSize(3);
        run.at(15 * DAY + 1, "user", "app", "table", "shop.cards", "data_class", "pci");

        assertThat(run.alerts()).hasSize(4);
        assertThat(run.alerts().get(3).metric()).isEqualTo(4);
        assertThat(run.alerts().get(3).facts())
                .containsEntry("table", "shop.cards")
                .containsEntry("new_today", "4")
                .containsEntry("new_today_sensitive", "1")
                .containsEntry("new_today_names", "shop.cards, shop.decoy0, shop.decoy1, shop.decoy2");
    }

    @Test
    void valuesBeyondTheDailyLimitAreSummarized() {
        start("first_seen_table: {}");
        learnOrders();
        for (int i = 0; i < 100; i++) {
            run.at(15 * DAY + i / 100.0, "user", "app", "table", "shop.t" + i);
        }
        assertThat(run.alerts())
                .extracting(RaisedAlert::metric)
                .containsExactly(1L, 2L, 3L, 4L, 5L, 7L, 11L, 19L, 35L, 67L);
        assertThat(run.alerts().get(9).facts().get("new_today_names"))
                .isEqualTo("shop.t0, shop.t1, shop.t2, shop.t3, shop.t4, shop.t5, shop.t6, shop.t7 and 59 more");
        run.at(16 * DAY + 1, "user", "app", "table", "shop.next_day");
        assertThat(run.alerts()).hasSize(11);
        assertThat(run.alerts().get(10).facts()).doesNotContainKey("new_today");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "set global general_log = ?¦general_log=on",
                "set global slow_query_log=?, log_output=?¦slow_query_log=on,log_output=other",
                "set global server_audit_logging=?¦server_audit_logging=on",
                "set global server_audit_file_rotate_now = on¦",
                "uninstall component ?¦uninstalls_other",
                "set @@session.sql_log_bin = @mysqldump_temp_log_bin¦sql_log_bin=other",
                "set sql_log_bin=@old_sql_log_bin¦sql_log_bin=other"
            })
    void switchingALogOnIsNoTampering(String change) {
        start("tampering_chain: {}");
        String[] parts = change.split("¦", -1);
        run.at(0, "user", "dba", "statement", parts[0], "flag", parts[1]);
        run.at(0.1, "user", "dba", "statement", "create user ?@?");
        assertThat(run.alerts()).isEmpty();

        run.at(2, "user", "dba", "statement", "set global general_log = ?", "flag", "general_log=off");
        run.at(2.1, "user", "dba", "statement", "create user ?@?");
        assertThat(run.alerts()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"@old", "@old_time_zone", "@mysqldump_temp", "@x", "(select ?)"})
    void aLogThatAVariableMaySwitchOffIsTampering(String value) {
        start("tampering_chain: {}");
        run.at(0, "user", "dba", "statement", "set sql_log_bin=" + value, "flag", "sql_log_bin=other");
        run.at(0.1, "user", "dba", "statement", "create user ?@?");
        assertThat(run.alerts()).hasSize(1);
    }

    private void learnOrders() {
        for (int day = 0; day < 15; day++) {
            run.at(day * DAY, "user", "app", "table", "shop.orders");
        }
    }

    @Test
    void replicasOfAClusterShareWhatIsKnown() {
        start("first_seen_host: {}");
        for (int day = 0; day < 16; day++) {
            run.at(day * DAY, "user", "app", "host", "web1", "cluster", "shop", "instance", "db" + day % 2);
        }
        run.at(16 * DAY, "user", "app", "host", "web1", "cluster", "shop", "instance", "db3");
        assertThat(run.alerts()).isEmpty();
        run.at(16 * DAY, "user", "app", "host", "web2", "cluster", "shop", "instance", "db3");
        assertThat(run.alert().entity()).containsOnlyKeys("cluster", "user");
    }

    @Test
    void exceptionsAreSearches() {
        start("first_seen_host: {exceptions: [{user|startswith: backup}, {user: app, host|cidr: 10.66.0.0/16}]}");
        daily("10.0.0.5", 15);
        run.at(15 * DAY, "user", "app", "host", "10.66.3.4");
        assertThat(run.alerts()).isEmpty();
        run.at(15 * DAY, "user", "app", "host", "10.67.3.4");
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void aDormantAccount() {
        start("dormant_account: {inactivity: 45d}");
        run.at(0, "user", "old").at(DAY, "user", "old").at(20 * DAY, "user", "old");
        run.at(70 * DAY, "user", "old");

        assertThat(run.alert().metric()).isEqualTo(50);
        assertThat(run.alert().facts()).containsEntry("last_seen", "2026-09-27T00:00:00Z");
        run.at(70 * DAY - 1, "user", "old").at(71 * DAY, "user", "old");
        assertThat(run.alerts()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"20, 5, none", "22, 5, LOW", "34, 5, LOW", "36, 5, MEDIUM", "20, 1, none", "22, 1, MEDIUM", "22, 0, LOW"
    })
    void aPauseOfThreeWeeksHasTheLevelLowUnlessTheAccountWasUsedForLess(int days, int weeks, String level) {
        start("dormant_account: {}");
        for (int week = 0; week <= weeks; week++) {
            run.at(week * WEEK, "user", "old");
        }
        run.at(weeks * WEEK + days * DAY, "user", "old");

        assertThat(run.alerts().stream().map(alert -> alert.rule().level().toString()))
                .containsExactlyElementsOf(level.equals("none") ? List.of() : List.of(level));
    }

    @Test
    void anAccountWithFrequentPausesIsNotDormant() {
        start("dormant_account: {inactivity: 10d}");
        run.at(0, "user", "job");
        for (int month = 1; month <= 3; month++) {
            run.at(month * 28 * DAY, "user", "job");
        }
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void aUserOfTheDayAtNight() {
        start("off_hours: {}");
        workWeeks(5);
        run.at(5 * WEEK + 3, "user", "ann", "statement", "select ?");

        assertThat(run.alert().facts()).containsEntry("hour_of_week", "MONDAY 03:00 UTC");
        assertThat(run.alert().facts()).containsEntry("weeks_known", "5");
        run.at(5 * WEEK + 4, "user", "ann").at(5 * WEEK + 7, "user", "ann");
        assertThat(run.alerts()).as("the same night").hasSize(1);
    }

    @Test
    void anHourNextToAUsualOneIsUsual() {
        start("off_hours: {}");
        workWeeks(5);
        run.at(5 * WEEK + 8, "user", "ann").at(5 * WEEK + 17, "user", "ann");
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void offHoursNeedWeeks() {
        start("off_hours: {}");
        workWeeks(3);
        run.at(3 * WEEK + 3, "user", "ann");
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aUserWithoutRegularHoursCausesNoAlert() {
        start("off_hours: {}");
        for (int i = 0; i < 60; i++) {
            run.at(i * 14.3, "user", "ops");
        }
        assertThat(run.alerts()).isEmpty();
    }

    private void workWeeks(int weeks) {
        for (int day = 0; day < weeks * 7; day++) {
            for (int hour = 9; day % 7 < 5 && hour < 17; hour++) {
                run.at(day * DAY + hour, "user", "ann");
            }
        }
    }

    @Test
    void aLogIsSwitchedOffAndThenSomethingIsDone() {
        start("tampering_chain: {}");
        run.at(0, "user", "root", "statement", "drop table t");
        run.at(1, "user", "root", "statement", "set global server_audit_logging = ?");
        run.at(1.1, "user", "app", "statement", "drop table t");
        assertThat(run.alerts()).isEmpty();
        run.slow(1.5, "user", "root", "statement", "select * from customers", "rows_sent", "20000");

        assertThat(run.alert().facts()).containsEntry("operation", "large_read");
        assertThat(run.alert().statements())
                .containsExactly("set global server_audit_logging = ?", "select * from customers");
        run.at(1.6, "user", "root", "statement", "drop table t");
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void stepsMayComeInTheWrongOrder() {
        start("tampering_chain: {}");
        run.at(1.5, "user", "root", "statement", "create user ?@?");
        run.at(1, "user", "root", "statement", "purge binary logs to ?");
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void stepsOfOtherTimesAreNotPartOfReportedChains() {
        start("tampering_chain: {}");
        for (int hour : new int[] {10, 20}) {
            run.at(hour, "user", "root", "statement", "set global general_log = ?", "flag", "general_log=off");
            run.at(hour + 0.5, "user", "root", "statement", "create user ?@?");
        }
        assertThat(run.alerts()).hasSize(2);

        run.at(1, "user", "root", "statement", "drop table t"); // from a log that is read later
        run.at(30, "user", "root", "statement", "drop table t");
        assertThat(run.alerts()).hasSize(2);
    }

    @Test
    void twoNetworksAtTheSameTime() {
        start("concurrent_networks: {}");
        daily("10.0.0.5", 15);
        run.at(15 * DAY, "user", "app", "src_ip", "10.0.0.5").at(15 * DAY + 1, "user", "app", "src_ip", "10.7.0.5");
        assertThat(run.alerts()).as("one after the other").isEmpty();
        run.at(15 * DAY + 1.05, "user", "app", "src_ip", "10.0.0.5");

        assertThat(run.alert().facts())
                .containsEntry("place", "10.0.0.0/16")
                .containsEntry("other_place", "10.7.0.0/16");
        run.at(16 * DAY, "user", "app", "src_ip", "10.0.0.5").at(16 * DAY, "user", "app", "src_ip", "10.7.0.5");
        assertThat(run.alerts()).as("a known pair").hasSize(1);
    }

    @Test
    void whatIsLateIsMarked() {
        start("first_seen_host: {}");
        daily("10.0.0.5", 20);
        run.advance(20 * DAY).at(18 * DAY, "user", "app", "host", "10.9.0.5");
        assertThat(run.alert().late()).isTrue();
    }

    @Test
    void anEntityIsForgotten() {
        start("first_seen_host: {ttl: 30d}");
        daily("10.0.0.5", 20);
        run.at(60 * DAY, "user", "app", "host", "10.9.0.5");
        assertThat(run.alerts()).as("learns again").isEmpty();
        assertThat(run.advance(120 * DAY).entities()).isZero();
    }

    private void daily(String host, int days) {
        for (int day = 0; day < days; day++) {
            run.at(day * DAY, "user", "app", "host", host, "src_ip", host);
        }
        assertThat(run.alerts()).isEmpty();
    }

    private void start(String yaml) {
        run = new DetectorRun(yaml);
    }
}
