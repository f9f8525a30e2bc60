package io.tailrace.detection.detector.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.detector.DetectorRun;
import org.junit.jupiter.api.Test;

/** Accounts of the same purpose, of which one accesses another table. */
class PeerTablesDetectorTest {

    private static final double DAY = 24;

    private DetectorRun run;

    @Test
    void aTableThatNoPeerAccessed() {
        start("peer_tables: {}");
        run.at(16 * DAY, "user", "analyst2", "table", "shop.orders,shop.salaries");

        assertThat(run.alert().entity()).containsEntry("user", "analyst2");
        assertThat(run.alert().facts())
                .containsEntry("table", "shop.salaries")
                .containsEntry(
                        "explanation",
                        "analyst2 accessed shop.salaries; none of the 3 active peers of the group"
                                + " analyst# did since 2026-09-07T09:00:00Z, and they share 3 of 3 tables.");
        run.at(17 * DAY, "user", "analyst3", "table", "shop.salaries");
        assertThat(run.alerts()).as("a peer accessed it before").hasSize(1);
    }

    @Test
    void aNewAccountIsComparedFromItsFirstHour() {
        start("peer_tables: {}");
        run.at(16 * DAY, "user", "analyst9", "table", "shop.orders");
        assertThat(run.alerts()).isEmpty();
        run.at(16 * DAY, "user", "analyst9", "table", "shop.salaries");
        assertThat(run.alert().entity()).containsEntry("user", "analyst9");
    }

    @Test
    void groupsOfTheFileComeFirst() {
        run = new DetectorRun("peer_tables: {groups: {readers: {user: [ann, ben, eva, analyst4]}}, numbered: false}");
        work("ann", "ben", "eva", "analyst4", "analyst5");
        run.at(16 * DAY, "user", "analyst5", "table", "shop.salaries");
        assertThat(run.alerts()).as("in no group").isEmpty();
        run.at(16 * DAY, "user", "analyst4", "table", "shop.salaries");
        assertThat(run.alert().facts()).containsEntry("peer_group", "readers");
    }

    @Test
    void aTableInUseByPeersAFailureAndTooFewPeersCauseNoAlert() {
        start("peer_tables: {}");
        work("clerk1", "clerk2", "clerk3");
        run.at(16 * DAY, "user", "clerk1", "table", "shop.salaries");
        run.at(16 * DAY, "user", "analyst1", "table", "shop.salaries", "outcome", "failure");
        run.at(60 * DAY, "user", "analyst1", "table", "shop.salaries");
        assertThat(run.alerts()).as("the peers were not active for four weeks").isEmpty();
    }

    @Test
    void membersWithTablesOfTheirOwnGiveNoExpectation() {
        run = new DetectorRun("peer_tables: {}");
        work("dev1", "dev2", "dev3", "dev4");
        for (int i = 1; i <= 4; i++) {
            run.at(10 * DAY, "user", "dev" + i, "table", "test.of_" + i);
        }
        run.at(16 * DAY, "user", "dev2", "table", "shop.salaries");
        assertThat(run.alerts()).as("3 of 7 tables are shared").isEmpty();
    }

    @Test
    void aDayHasFewAlerts() {
        start("peer_tables: {}");
        for (int i = 0; i < 20; i++) {
            run.at(16 * DAY + i / 2.0, "user", "analyst1", "table", "shop.new" + i);
        }
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void theLargestGroupKeepsItsRecentMembers() {
        run = new DetectorRun("peer_tables: {}");
        for (int i = 0; i < 70; i++) {
            run.at(i / 10.0, "user", "app" + i, "table", "shop.orders");
        }
        for (int i = 10; i < 70; i++) {
            run.at(15 * DAY + i / 10.0, "user", "app" + i, "table", "shop.orders");
        }
        run.at(16 * DAY, "user", "app20", "table", "shop.cards");
        assertThat(run.alert().facts()).containsEntry("peers", "63");
    }

    private void start(String yaml) {
        run = new DetectorRun(yaml);
        work("analyst1", "analyst2", "analyst3", "analyst4");
    }

    private void work(String... users) {
        for (int day = 0; day < 16; day++) {
            for (String user : users) {
                run.at(day * DAY + 9, "user", user, "table", "shop.orders,shop.products,shop.customers");
            }
        }
    }
}
