package io.tailrace.flink.detection;

import io.tailrace.flink.detection.events.EventRecord;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.util.function.SerializableSupplier;

/**
 * Generates the watermark from the latest time of the log that is furthest behind, among the logs with recent events.
 * Logs of a server may be read at different speeds, as after a first start; neither becomes late. A server whose clock
 * is ahead counts as at most {@link #MAX_AHEAD} ahead of this machine's clock.
 *
 * A log whose times are older than {@link #MAX_BEHIND} does not hold back the watermark: the clock of its server may
 * have stopped, and the state of other logs would grow without limit. Its events are late.
 *
 * <p>If no log has recent events, the watermark follows this machine's clock, behind it by the idle timeout, so that
 * the end of a window does not wait for the next event. Backfilled events do not affect the watermark.
 */
final class PerLogWatermarkGenerator implements WatermarkGenerator<EventRecord> {

    static final Duration MAX_AHEAD = Duration.ofMinutes(5);
    static final Duration MAX_BEHIND = Duration.ofDays(1);

    private static final long MICROS_PER_MILLI = 1000;

    /** The progress of a log: its latest event time and its latest arrival, in milliseconds. */
    private static final class Progress {
        long time = Long.MIN_VALUE;
        long lastEventMillis;
    }

    private final long idleTimeoutMillis;
    private final SerializableSupplier<Long> clock;
    private final Map<String, Progress> active = new HashMap<>();
    private boolean hasEvents;
    private long emitted = Long.MIN_VALUE;

    /**
     * @param idleTimeout time without events after which the watermark advances without a log
     * @param clock milliseconds since 1970
     */
    PerLogWatermarkGenerator(Duration idleTimeout, SerializableSupplier<Long> clock) {
        this.idleTimeoutMillis = idleTimeout.toMillis();
        this.clock = clock;
    }

    @Override
    public void onEvent(EventRecord event, long timestamp, WatermarkOutput output) {
        if (event.backfilled()) {
            return;
        }
        long now = clock.get();
        Progress progress = active.computeIfAbsent(event.log(), key -> new Progress());
        long time = Math.floorDiv(event.micros(), MICROS_PER_MILLI);
        progress.time = Math.max(progress.time, Math.min(time, now + MAX_AHEAD.toMillis()));
        progress.lastEventMillis = now;
        hasEvents = true;
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
        long now = clock.get();
        active.values().removeIf(progress -> now - progress.lastEventMillis > idleTimeoutMillis);
        if (!hasEvents) {
            // A subtask without any log must not affect the watermark.
            output.markIdle();
            return;
        }
        long slowest = active.values().stream()
                .mapToLong(progress -> progress.time)
                .min()
                .orElse(now - idleTimeoutMillis);
        slowest = Math.max(slowest, now - MAX_BEHIND.toMillis());
        if (slowest - 1 > emitted) {
            emitted = slowest - 1;
            output.emitWatermark(new Watermark(emitted));
        }
    }
}
