package io.tailrace.flink.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.runtime.tasks.TestProcessingTimeService;
import org.junit.jupiter.api.Test;

class RareTimersTest {

    @Test
    void aTimerFiresTenSecondsLaterAtTheEarliest() throws Exception {
        TestProcessingTimeService clock = new TestProcessingTimeService();
        clock.setCurrentTime(1_000);
        List<Long> fired = new ArrayList<>();
        RareTimers timers = new RareTimers(clock);
        timers.registerTimer(1_500, fired::add);
        timers.registerTimer(20_000, fired::add);

        clock.setCurrentTime(10_999);
        assertThat(fired).isEmpty();
        clock.setCurrentTime(11_000);
        assertThat(fired).hasSize(1);
        clock.setCurrentTime(20_000);
        assertThat(fired).hasSize(2);
    }
}
