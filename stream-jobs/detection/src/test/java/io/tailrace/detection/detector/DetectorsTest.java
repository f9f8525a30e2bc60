package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.detector.sequence.PrivilegedOperation;
import io.tailrace.detection.sigma.Level;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
                "uninstall component ?¦uninstalls_other"
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
    void aNewAccountUsesARightThatFewHave() {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY, "user", "root", "statement", "create user ?@?");
        run.at(8 * DAY + 1, "user", "eve", "event_class", "connection");
        run.at(8 * DAY + 2, "user", "eve", "statement", "select ? into outfile ?", "host", "h");

        assertThat(run.alert().entity()).containsEntry("user", "eve");
        assertThat(run.alert().facts())
                .containsEntry("account", "new")
                .containsEntry("deed", "files")
                .containsEntry("granted_by", "root");
        assertThat(run.alert().statements()).containsExactly("create user ?@?", "select ? into outfile ?");
        run.at(8 * DAY + 3.5, "user", "eve", "statement", "select ? into outfile ?");
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void aKnownAccountUsesWhatItNeverDid() {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY, "user", "root", "statement", "grant all on *.* to ?@?");
        run.at(8 * DAY + 1, "user", "root", "statement", "set global general_log = ?");
        assertThat(run.alerts()).as("root did both before").isEmpty();
        run.at(8 * DAY + 2, "user", "app", "statement", "grant super on *.* to ?@?");
        assertThat(run.alert().facts()).containsEntry("account", "known").containsEntry("deed", "accounts");
    }

    @Test
    void rightsWithoutAGrantBeforeAreNoChain() {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY + 2, "user", "app", "statement", "select load_file(?)");
        run.at(9 * DAY, "user", "root", "statement", "create user ?@?");
        run.at(11 * DAY, "user", "eve", "statement", "select load_file(?)");
        run.at(11 * DAY, "user", "bob", "statement", "select load_file(?)", "outcome", "failure");
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aRightIsFollowedToWhomItWasGiven() {
        start("privilege_chain: {}");
        week();
        run.at(7 * DAY + 1, "user", "bob", "statement", "select ?");
        run.at(8 * DAY, "user", "root", "statement", "grant file on *.* to ?@?", "target_user", "bob");
        run.at(8 * DAY + 1, "user", "app", "statement", "select load_file(?)");
        assertThat(run.alerts()).as("app was given nothing").isEmpty();
        run.at(8 * DAY + 2, "user", "bob", "statement", "select load_file(?)");

        assertThat(run.alert().entity()).containsEntry("user", "bob");
        assertThat(run.alert().facts())
                .containsEntry("link", "grantee")
                .containsEntry("account", "known")
                .containsEntry("path", "root > bob");
    }

    @Test
    void theChainIsFollowedFromAccountToAccount() {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY, "user", "root", "statement", "create user ?@?", "target_user", "eve");
        run.at(8 * DAY + 1, "user", "eve", "statement", "create user ?", "target_user", "mallory,trent");
        run.at(8 * DAY + 2, "user", "trent", "statement", "drop database shop");
        run.at(8 * DAY + 3, "user", "app", "statement", "drop database shop");

        assertThat(run.alerts()).extracting(alert -> alert.entity().get("user")).containsExactly("eve", "trent");
        assertThat(run.alerts().get(1).facts())
                .containsEntry("granted_by", "eve")
                .containsEntry("path", "root > eve > trent");
    }

    @Test
    void theGranterCountsToo() {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY, "user", "root", "statement", "grant super on *.* to ?@?", "target_user", "app");
        run.at(8 * DAY + 1, "user", "root", "statement", "drop database shop");
        assertThat(run.alert().facts()).containsEntry("link", "granter").doesNotContainKey("path");
    }

    @Test
    void membersOfARoleAreNotKnown() {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY, "user", "root", "statement", "grant file on *.* to readers", "target_user", "readers");
        run.at(8 * DAY + 1, "user", "app", "statement", "select load_file(?)");
        assertThat(run.alert().facts()).containsEntry("link", "possible");
    }

    @Test
    void aChangeOfTheOwnPasswordIsNoGrant() {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY, "user", "app", "statement", "set password ?", "target_user", "app");
        run.at(8 * DAY + 1, "user", "bob", "statement", "select load_file(?)");
        assertThat(run.alerts()).isEmpty();
        run.at(8 * DAY + 2, "user", "root", "statement", "set password ?", "target_user", "bob");
        run.at(8 * DAY + 3, "user", "bob", "statement", "drop database shop");
        assertThat(run.alert().facts()).containsEntry("link", "grantee");
    }

    @ParameterizedTest
    @ValueSource(strings = {"truncated", "accounts_incomplete"})
    void namedAccountsAreNotAllIfOthersMayBeConcerned(String flag) {
        start("privilege_chain: {}");
        week();
        String grant = "grant file on *.* to decoy, ?";
        run.at(8 * DAY, "user", "root", "statement", grant, "target_user", "decoy", "flag", flag);
        run.at(8 * DAY + 1, "user", "app", "statement", "select load_file(?)");
        run.at(8 * DAY + 2, "user", "decoy", "statement", "select load_file(?)");
        assertThat(run.alerts()).extracting(alert -> alert.facts().get("link")).containsExactly("possible", "grantee");
    }

    @ParameterizedTest
    @ValueSource(strings = {"truncated", "accounts_incomplete"})
    void anotherPasswordMayStandBehindOnesOwn(String flag) {
        start("privilege_chain: {}");
        week();
        String change = "alter user app identified by ?, root identified by ?require none";
        run.at(8 * DAY, "user", "app", "statement", change, "target_user", "app", "flag", flag);
        run.at(8 * DAY + 1, "user", "bob", "statement", "select load_file(?)");
        assertThat(run.alerts())
                .as("app begins to change accounts, and bob may be who was meant")
                .extracting(alert ->
                        alert.entity().get("user") + ' ' + alert.facts().get("deed"))
                .containsExactly("app accounts", "bob files");
    }

    @Test
    void aPreparedGrantIsOne() {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY, "user", "root", "statement", "prepare s from ?", "flag", "dynamic_grant", "target_user", "app");
        run.at(8 * DAY + 1, "user", "app", "statement", "select load_file(?)");
        assertThat(run.alert().facts()).containsEntry("link", "grantee");
    }

    /** Bytes that a version wrote before grants contained grantees. */
    @Test
    void stateOfTheFirstVersionIsRead() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        long granted = 10 * 24 * ExpiringValueSet.HOUR;
        out.writeByte(1);
        out.writeLong(0);
        out.writeLong(granted);
        out.writeInt(1);
        out.writeLong(ExpiringValueSet.hash("app"));
        out.writeInt(1);
        out.writeInt(2);
        out.writeByte(PrivilegedOperation.DROPS.bit());
        out.writeByte(1);
        out.writeUTF("root");
        new AlertSample(granted, "e1", "grant all on *.* to ?").write(out);
        StatefulDetector detector =
                DetectorRun.file("privilege_chain: {}").detectors().get(0);

        DetectorState state = detector.readState(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        List<RaisedAlert> alerts = new ArrayList<>();
        Observation use = new Observation(
                detector.key(),
                List.of("", "db1"),
                List.of("app", "drops", "files"),
                0,
                granted + 1,
                "e2",
                "e2",
                "",
                false);
        detector.update(state, use, alerts::add);

        assertThat(alerts).singleElement().satisfies(alert -> assertThat(alert.facts())
                .containsEntry("deed", "files")
                .containsEntry("account", "known")
                .containsEntry("link", "possible"));
    }

    private void week() {
        for (int day = 0; day < 8; day++) {
            run.at(day * DAY, "user", "app", "statement", "select ?");
            run.at(day * DAY, "user", "root", "statement", "create user ?@?");
            run.at(day * DAY + 1, "user", "root", "statement", "set global x = ?");
        }
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aLogIsSwitchedOffAndThenSomethingIsDone() {
        start("tampering_chain: {}");
        run.at(0, "user", "root", "statement", "drop table t");
        run.at(1, "user", "root", "statement", "set global server_audit_logging = ?");
        run.at(1.1, "user", "app", "statement", "drop table t");
        assertThat(run.alerts()).isEmpty();
        run.slow(1.5, "user", "root", "statement", "select * from customers", "rows_sent", "20000");

        assertThat(run.alert().facts()).containsEntry("deed", "large_read");
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
    void anEventOfTheFutureIsNotObserved() {
        start("dormant_account: {}\nvolume_rows: {}\n");
        rowsOfDays(16, 3000);
        run.slow(24 * 365 * 70, "user", "app", "rows_sent", "1");
        assertThat(run.alerts()).isEmpty();
        run.slow(16 * DAY + 9, "user", "app", "rows_sent", "900000");
        assertThat(run.alerts()).hasSize(1);
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
