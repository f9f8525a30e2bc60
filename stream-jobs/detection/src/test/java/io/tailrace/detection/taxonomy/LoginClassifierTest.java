package io.tailrace.detection.taxonomy;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.testing.Contract;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LoginClassifierTest {

    @ParameterizedTest
    @MethodSource("logins")
    void anEventHasTheLoginOfTheContract(Map<String, Object> contractCase) {
        AuditEvent event = AuditEvents.of(contractCase);

        assertThat(LoginClassifier.of(event)).isEqualTo(contractCase.get("login"));
        assertThat(isLogin(event) && LoginClassifier.changesUser(event.getCommand()))
                .isEqualTo(contractCase.get("changes_user"));
    }

    private static boolean isLogin(AuditEvent event) {
        return LoginClassifier.isLogin(event.getEventClass(), event.getCommand(), event.getEventName());
    }

    static List<Map<String, Object>> logins() throws IOException {
        return Contract.cases("login");
    }
}
