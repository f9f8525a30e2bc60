package io.tailrace.flink.detection;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.flink.detection.events.EventRecord;
import io.tailrace.reassembly.LogId;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.junit.jupiter.api.Test;

class PerLogWatermarkGeneratorTest {

    private static final long START = 1_795_229_359_000L;
    private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(10);

    private long now = START;
    private long watermark = Long.MIN_VALUE;
    private boolean idle;
    private final PerLogWatermarkGenerator watermarks = new PerLogWatermarkGenerator(IDLE_TIMEOUT, () -> now);

    private final WatermarkOutput output = new WatermarkOutput() {
        @Override
        public void emitWatermark(Watermark emitted) {
            assertThat(emitted.getTimestamp()).isGreaterThan(watermark);
            watermark = emitted.getTimestamp();
        }

        @Override
        public void markIdle() {
            idle = true;
        }

        @Override
        public void markActive() {
            idle = false;
        }
    };

    @Test
    void theLogThatIsBehindLeads() {
        event("a", START);
        event("b", START - 3000);
        assertThat(emitted()).isEqualTo(START - 3001);
        event("b", START + 5000);
        assertThat(emitted()).isEqualTo(START - 1);
    }

    @Test
    void anIdleLogDoesNotHoldBackTheWatermark() {
        event("quiet", START - 60_000);
        event("busy", START);
        assertThat(emitted()).isEqualTo(START - 60_001);
        now += IDLE_TIMEOUT.toMillis() + 1;
        event("busy", START + 10_000);
        assertThat(emitted()).isEqualTo(START + 9_999);
    }

    @Test
    void aClockThatIsAheadCountsAsFiveMinutesAhead() {
        event("ahead", START + 3_600_000);
        assertThat(emitted()).isEqualTo(START + PerLogWatermarkGenerator.MAX_AHEAD.toMillis() - 1);
    }

    @Test
    void aStoppedClockHoldsBackTheWatermarkForAtMostADay() {
        event("ahead", START);
        event("of last month", START - Duration.ofDays(30).toMillis());
        assertThat(emitted()).isEqualTo(START - PerLogWatermarkGenerator.MAX_BEHIND.toMillis() - 1);
    }

    @Test
    void withoutEventsTheWatermarkAdvances() {
        event("a", START);
        emitted();
        now += 3_600_000;
        assertThat(emitted()).isEqualTo(now - IDLE_TIMEOUT.toMillis() - 1);
    }

    @Test
    void backfilledEventsMoveNothing() {
        watermarks.onEvent(message("a", START, true), 0, output);
        assertThat(emitted()).isEqualTo(Long.MIN_VALUE);
        assertThat(idle).isTrue();
    }

    private void event(String log, long millis) {
        watermarks.onEvent(message(log, millis, false), 0, output);
    }

    private long emitted() {
        watermarks.onPeriodicEmit(output);
        return watermark;
    }

    private static EventRecord message(String log, long millis, boolean backfilled) {
        return EventRecord.of(new LogId("db-1", "audit", log), new byte[0])
                .range(1, 0, 1)
                .at(millis * 1000)
                .backfilled(backfilled)
                .build();
    }
}
