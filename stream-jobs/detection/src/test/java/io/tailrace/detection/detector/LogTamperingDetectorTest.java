package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Passwords that are set after tampering with a log. {@link DetectorsTest} has the other steps. */
class LogTamperingDetectorTest {

    private final DetectorRun run = new DetectorRun("tampering_chain: {}");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "alter user `app`@`10.%` identified ?",
                "alter user `app`@`10.%` discard old password",
                "set password for `app`@`10.%` ?"
            })
    void aJobThatRotatesPasswordsAndPurgesBinaryLogsIsNoChain(String rotation) {
        run.at(1, "user", "rotation", "statement", "purge binary logs before ?");
        run.at(1.1, "user", "rotation", "statement", rotation);
        assertThat(run.alerts()).isEmpty();

        run.at(1.2, "user", "rotation", "statement", "alter user `app`@`10.%` identified ? account unlock");
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void aPasswordThatIsSetWhileALogIsOffIsAChain() {
        run.at(1, "user", "root", "statement", "set global general_log = ?", "flag", "general_log=off");
        run.at(1.1, "user", "root", "statement", "alter user `app`@`10.%` identified ?");
        assertThat(run.alerts()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"reset master", "reset binary logs and gtids"})
    void aPasswordThatIsSetAfterAllBinaryLogsWereDeletedIsAChain(String reset) {
        run.at(1, "user", "root", "statement", reset);
        run.at(1.1, "user", "root", "statement", "alter user `app`@`10.%` identified ?");
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void anotherPluginIsNoPasswordAlone() {
        run.at(1, "user", "root", "statement", "purge binary logs to ?");
        run.at(1.1, "user", "root", "statement", "alter user `app`@`10.%` identified with mysql_native_password as ?");
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void purgesDoNotHideALogThatIsOff() {
        run.at(1, "user", "root", "statement", "set global general_log = ?", "flag", "general_log=off");
        for (int number = 1; number <= 5; number++) {
            run.at(1 + number / 100.0, "user", "root", "statement", "purge binary logs to ?");
        }
        run.at(1.1, "user", "root", "statement", "alter user `app`@`10.%` identified ?");
        assertThat(run.alerts()).hasSize(1);
    }

    @Test
    void anOwnPasswordIsNoChain() {
        run.at(1, "user", "root", "statement", "set global general_log = ?", "flag", "general_log=off");
        run.at(1.1, "user", "root", "statement", "alter user `root`@`10.%` identified ?", "target_user", "root");
        assertThat(run.alerts()).isEmpty();
    }
}
