package io.tailrace.detection.taxonomy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatusOutcomeTest {

    @Test
    void onlyAStatusOfZeroMayBeUnknown() {
        assertThat(StatusOutcome.of(0, List.of())).isEqualTo("success");
        assertThat(StatusOutcome.of(1045, List.of("backfilled"))).isEqualTo("failure");
        assertThat(StatusOutcome.of(0, List.of("status_unknown"))).isEqualTo("unknown");
        assertThat(StatusOutcome.of(1045, List.of("status_unknown"))).isEqualTo("failure");
    }
}
