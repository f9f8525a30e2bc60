package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.detector.sequence.PrivilegedOperation;
import io.tailrace.detection.sigma.rule.Level;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Chains of a grant and the operation that it allows. */
class PrivilegeEscalationDetectorTest {

    private static final double DAY = 24;

    private DetectorRun run;

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
                .containsEntry("operation", "files")
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
        assertThat(run.alert().facts()).containsEntry("account", "known").containsEntry("operation", "accounts");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "grant execute on procedure shop.close_month to ?@?|0",
                "grant select (`id`, name), update on `shop`.`v_clients` to ?@?|0",
                "grant select on mysql.user to ?@?|1",
                "grant select on shop.* to ?@?|1",
                "grant trigger on shop.orders to ?@?|1",
                "grant select on shop.orders to ?@? with grant option|1"
            })
    void rightsOnOneTableOrRoutineAreNoChain(String grant, int alerts) {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY, "user", "root", "statement", grant, "target_user", "app");
        run.at(8 * DAY + 1, "user", "app", "statement", "drop table old_reports");

        assertThat(run.alerts()).hasSize(alerts);
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
    void aPasswordForAnotherAccountGivesItsGranterNothing() {
        start("privilege_chain: {}");
        week();
        String rotation = "alter user `app`@`10.%` identified ?";
        run.at(10 * DAY, "user", "rotation", "statement", rotation, "target_user", "app");
        run.at(10 * DAY + 1, "user", "rotation", "statement", "purge binary logs before ?");
        assertThat(run.alerts()).noneMatch(alert -> alert.entity().get("user").equals("rotation"));

        run.at(10 * DAY + 2, "user", "app", "statement", "drop database shop");
        assertThat(run.alerts()).anyMatch(alert -> alert.entity().get("user").equals("app"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"set global max_connections = ?", "select user, host from mysql.user"})
    void anAdministratorWhoGoesOnToAdministrateIsLow(String statement) {
        start("privilege_chain: {}");
        week();
        run.at(1, "user", "dba", "statement", "select ?");
        run.at(8 * DAY, "user", "dba", "statement", "grant select on shop.* to ?@?", "target_user", "app");
        run.at(8 * DAY + 1, "user", "dba", "statement", statement, "table", "mysql.user");
        assertThat(ofGranters()).isNotEmpty().allMatch(alert -> alert.rule().level() == Level.LOW);
    }

    @Test
    void aGranterThatIsKnownForDaysOnlyIsNoAdministrator() {
        start("privilege_chain: {}");
        week();
        run.at(6 * DAY, "user", "eve", "statement", "select ?");
        run.at(8 * DAY, "user", "eve", "statement", "grant select on shop.* to ?@?", "target_user", "app");
        run.at(8 * DAY + 1, "user", "eve", "statement", "set global max_connections = ?");
        assertThat(ofGranters()).extracting(alert -> alert.rule().level()).containsExactly(Level.HIGH);
    }

    private List<RaisedAlert> ofGranters() {
        return run.alerts().stream()
                .filter(alert -> alert.facts().get("link").equals("granter"))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"set global max_connections = ?", "drop database shop"})
    void theGranteeStaysHigh(String statement) {
        start("privilege_chain: {}");
        week();
        run.at(1, "user", "app", "statement", "select ?");
        run.at(8 * DAY, "user", "root", "statement", "grant super on *.* to ?@?", "target_user", "app");
        run.at(8 * DAY + 1, "user", "app", "statement", statement);
        assertThat(run.alert().rule().level()).isEqualTo(Level.HIGH);
    }

    @Test
    void membersOfARoleAreNotKnown() {
        start("privilege_chain: {}");
        week();
        run.at(8 * DAY, "user", "root", "statement", "grant file on *.* to readers", "target_user", "readers");
        run.at(8 * DAY + 1, "user", "app", "statement", "select load_file(?)");
        assertThat(run.alert().facts()).containsEntry("link", "possible");
    }

    /** An account that has been quiet may be a role, unless the statement names its hosts. */
    @ParameterizedTest
    @CsvSource({"readers, 1", "readers@%, 1", "`a@b`, 1", "readers@localhost, 0", "`a@b`@10.0.0.9, 0"})
    void anAccountWithHostsIsNoRole(String account, int alerts) {
        start("privilege_chain: {}");
        week();
        String grant = "grant select on shop.* to readers";
        run.at(8 * DAY, "user", "root", "statement", grant, "target_user", "readers", "target_account", account);
        run.at(8 * DAY + 1, "user", "app", "statement", "truncate table cache");
        assertThat(run.alerts()).hasSize(alerts);
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
                        alert.entity().get("user") + ' ' + alert.facts().get("operation"))
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
                .containsEntry("operation", "files")
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

    private void start(String yaml) {
        run = new DetectorRun(yaml);
    }
}
