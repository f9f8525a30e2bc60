package io.tailrace.detection.taxonomy;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.testing.Contract;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StatusOutcomeTest {

    @ParameterizedTest
    @MethodSource("events")
    void anEventOfAnAuditLogHasTheOutcomeOfTheContract(Map<String, Object> event) {
        assertThat(StatusOutcome.of(AuditEvents.of(event))).isEqualTo(event.get("outcome"));
    }

    static List<Map<String, Object>> events() throws IOException {
        return Contract.cases(Contract.of("outcome"), "events");
    }

    @ParameterizedTest
    @MethodSource("entries")
    void anEntryOfASlowLogHasTheOutcomeOfTheContract(Map<String, Object> entry) {
        assertThat(StatusOutcome.ofEntry((Integer) entry.get("error_code"))).isEqualTo(entry.get("outcome"));
    }

    static List<Map<String, Object>> entries() throws IOException {
        return Contract.cases(Contract.of("outcome"), "entries");
    }
}
