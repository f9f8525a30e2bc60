package io.tailrace.detection.detector.login;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.DetectorRun;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.sigma.rule.Level;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Refused logins that are too slow or too distributed for rules of minutes. */
class LoginDetectorsTest {

    private static final double DAY = 24;
    private static final double MINUTE = 1 / 60.0;

    private DetectorRun run;

    @Test
    void moreRefusedLoginsInADayThanEverBefore() {
        run = new DetectorRun("login_failures: {}");
        for (int i = 0; i < 9; i++) {
            refused(16 * DAY + i, "anna", "10.6." + i + ".7");
        }

        assertThat(run.alert().entity()).containsEntry("user", "anna");
        assertThat(run.alert().facts().get("explanation"))
                .isEqualTo(
                        "9 logins of the account anna were refused on 2026-09-23, by 9 clients; at most 8 were expected,"
                                + " because none was refused in the days before.");
    }

    @Test
    void aPersonWhoMistypesAtTheUsualMachineHasTwiceTheLimit() {
        run = new DetectorRun("login_failures: {}");
        refused(0, "anna", "10.6.0.7");
        for (int i = 0; i < 12; i++) {
            refused(16 * DAY + i, "anna", "10.6.0.7");
        }
        assertThat(run.alerts()).isEmpty();
        for (int i = 0; i < 5; i++) {
            refused(16 * DAY + 13 + i, "anna", "10.6.0.7");
        }
        assertThat(run.alert().facts()).containsEntry("refused", "17").containsEntry("threshold", "16");
    }

    @Test
    void oneGuessAtAnotherMachineRestoresTheLimit() {
        run = new DetectorRun("login_failures: {}");
        refused(0, "anna", "10.6.0.7");
        for (int i = 0; i < 8; i++) {
            refused(16 * DAY + i, "anna", "10.6.0.7");
        }
        refused(16 * DAY + 9, "anna", "10.6.0.8");
        assertThat(run.alert().facts()).containsEntry("threshold", "8");
    }

    @Test
    void aMachineIsNotFamiliarInItsFirstWeek() {
        run = new DetectorRun("login_failures: {}");
        refused(10 * DAY, "anna", "10.6.0.7");
        for (int i = 0; i < 9; i++) {
            refused(16 * DAY + i, "anna", "10.6.0.7");
        }
        assertThat(run.alert().facts()).containsEntry("threshold", "8");
    }

    @Test
    void aWeekOfGuessesAtTheUsualMachineIsReported() {
        run = new DetectorRun("login_failures: {}");
        refused(0, "anna", "10.6.0.7");
        for (int i = 0; i < 21; i++) {
            refused((16 + i / 8) * DAY + i % 8, "anna", "10.6.0.7");
        }
        assertThat(run.alert().facts()).containsEntry("window_days", "7");
    }

    @Test
    void aProgramWithAnOldPasswordIsLow() {
        run = new DetectorRun("login_failures: {}");
        succeeded(0, "mailer", "10.6.0.7");
        succeeded(15 * DAY, "mailer", "10.6.0.7");
        for (int i = 0; i < 9; i++) {
            refused(16 * DAY + i, "mailer", "10.6.0.7");
        }
        assertThat(run.alert().rule().level()).isEqualTo(Level.LOW);
    }

    @Test
    void oneRefusedLoginElsewhereIsNotThatOfTheProgram() {
        run = new DetectorRun("login_failures: {}");
        succeeded(0, "mailer", "10.6.0.7");
        succeeded(15 * DAY, "mailer", "10.6.0.7");
        refused(16 * DAY, "mailer", "10.6.0.8");
        for (int i = 1; i < 9; i++) {
            refused(16 * DAY + i, "mailer", "10.6.0.7");
        }
        assertThat(run.alert().rule().level()).isEqualTo(Level.MEDIUM);
    }

    @Test
    void aClientFromWhichTheAccountLoggedInOnceIsNotItsOwn() {
        run = new DetectorRun("login_failures: {}");
        succeeded(0, "mailer", "10.6.0.7");
        for (int i = 0; i < 9; i++) {
            refused(16 * DAY + i, "mailer", "10.6.0.7");
        }
        assertThat(run.alert().rule().level()).isEqualTo(Level.MEDIUM);
    }

    @Test
    void aNetworkIsReportedForPairsOfAccountAndClientThatAreNew() {
        run = new DetectorRun("login_failures: {}");
        String[] users = {"anna", "ben", "eva"};
        for (int i = 0; i < 3; i++) {
            refused(i, users[i], "10.6.0." + i);
        }
        for (int i = 0; i < 12; i++) {
            refused(16 * DAY + i, users[i % 3], "10.6.0." + i % 3);
        }
        assertThat(run.alerts()).as("each at their own machine").isEmpty();
        for (int i = 0; i < 9; i++) {
            refused(17 * DAY + i, users[(i + 1) % 3], "10.6.0." + i % 3);
        }
        assertThat(run.alert().entity()).containsEntry("network", "10.6.0.0/24");
    }

    @Test
    void aNetworkWithSuccessfulLoginsIsLearnedFirst() {
        run = new DetectorRun("login_failures: {}");
        succeeded(0, "p0", "10.6.0.1");
        for (int i = 0; i < 12; i++) {
            refused(1 + i, "p" + i, "10.6.0." + i);
            refused(1 + i, "q" + i, "10.7.0." + i);
        }

        assertThat(run.alert().entity()).containsEntry("network", "10.7.0.0/24");
    }

    @Test
    void guessingThatARuleOfMinutesReportsIsNotRepeated() {
        run = new DetectorRun("login_failures: {}");
        for (int i = 0; i < 40; i++) {
            refused(DAY + i * MINUTE / 3, "anna", "10.6.0.7");
        }
        for (int i = 0; i < 10; i++) {
            refused(DAY + 2 + i, "anna", "10.6.0.7");
        }
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aLoginAfterGuessesOfOthers() {
        run = new DetectorRun("login_after_guessing: {}");
        succeeded(0, "anna", "10.30.1.5");
        for (int i = 0; i < 12; i++) {
            refused(DAY + 5 * i, "anna", "10.6." + i % 4 + ".7");
        }
        succeeded(4 * DAY, "anna", "10.30.1.9");
        assertThat(run.alerts()).as("the usual network").isEmpty();
        succeeded(4 * DAY + 1, "anna", "10.99.1.9");

        assertThat(run.alert().facts())
                .containsEntry("refused", "12")
                .containsEntry("networks", "4")
                .containsEntry("network", "10.99.1.0/24");
    }

    @Test
    void typingErrorsAreNoGuesses() {
        run = new DetectorRun("login_after_guessing: {}");
        for (int day = 0; day < 12; day++) {
            refused(day * DAY, "anna", "10.30.1.5");
            refused(day * DAY + MINUTE, "anna", "10.30.1.5");
            succeeded(day * DAY + 2 * MINUTE, "anna", "10.30.1.5");
        }
        succeeded(13 * DAY, "anna", "10.99.1.5");
        assertThat(run.alerts()).isEmpty();
    }

    /**
     * The file was written by version 1: two refused logins of an account at one client on each of ten days. Version 1
     * does not contain familiar clients, so the client is not familiar, which would double the limit.
     */
    @Test
    void stateOfVersionOneKeepsItsDaysAndKnowsNoFamiliarClient() throws IOException {
        StatefulDetector detector =
                DetectorRun.file("login_failures: {}").detectors().get(0);
        List<RaisedAlert> alerts = new ArrayList<>();
        try (InputStream bytes = getClass().getResourceAsStream("/detector-state/login-failures-version-1")) {
            DetectorState state = detector.readState(new DataInputStream(bytes));
            assertThat(bytes.available()).isZero();
            for (int i = 0; i < 9; i++) {
                detector.update(state, refusalOnTheEleventhDay(i), alerts::add);
            }
        }
        assertThat(alerts).singleElement().satisfies(alert -> assertThat(alert.facts())
                .containsEntry("refused", "9")
                .containsEntry("threshold", "8")
                .containsEntry("baseline_days", "10")
                .containsEntry("baseline_median", "2"));
    }

    private static Observation refusalOnTheEleventhDay(int hour) {
        long micros = DetectorRun.micros(Instant.parse("2026-09-17T08:00:00Z")) + hour * ExpiringValueSet.HOUR;
        String id = "e" + hour;
        return new Observation(
                "login_failures",
                List.of("", "db1", "anna", "ACCOUNT"),
                List.of("10.6.0.7"),
                1,
                micros,
                id,
                id,
                "",
                false);
    }

    private void refused(double hours, String user, String host) {
        run.at(
                hours,
                "event_class",
                "connection",
                "outcome",
                "failure",
                "login",
                "failure",
                "error_code",
                "1045",
                "user",
                user,
                "host",
                host);
    }

    private void succeeded(double hours, String user, String host) {
        run.at(hours, "event_class", "connection", "login", "success", "user", user, "host", host);
    }
}
