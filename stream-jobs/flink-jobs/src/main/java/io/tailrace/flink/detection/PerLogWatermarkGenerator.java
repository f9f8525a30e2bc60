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
 * How far event time has come: to the latest time of the log that is behind the others, of those that were heard of
 * lately. One log of a server may be read long before another one is, as at a first start: that makes neither late. A
 * server whose clock is ahead counts as at most {@link #MAX_AHEAD} ahead of this machine's.
 *
 * A log whose times are older than {@link #MAX_BEHIND} holds nobody back: its server's clock may stand still, and what
 * others remember would grow for ever. Its events are late.
 *
 * <p>When none was heard of lately, time goes on with this machine's clock, behind it by as much as a log may be
 * quiet: what waits for the end of a window must not wait for the next event of anyone. Backfilled events move nothing.
 */
final class PerLogWatermarkGenerator implements WatermarkGenerator<EventRecord> {

    static final Duration MAX_AHEAD = Duration.ofMinutes(5);
    static final Duration MAX_BEHIND = Duration.ofDays(1);

    private static final long MICROS_PER_MILLI = 1000;

    /** A log: its latest event time, and when it was heard of. Milliseconds. */
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
     * @param idleTimeout how long a log may be silent before the others go on without it
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
            // A subtask without any log has no say.
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
