package io.tailrace.flink.kafka;

import java.util.concurrent.ScheduledFuture;
import org.apache.flink.api.common.operators.ProcessingTimeService;

/** Timers that fire at the earliest ten seconds after they were registered. */
record RareTimers(ProcessingTimeService timers) implements ProcessingTimeService {

    private static final long MIN_DELAY_MILLIS = 10_000;

    @Override
    public long getCurrentProcessingTime() {
        return timers.getCurrentProcessingTime();
    }

    @Override
    public ScheduledFuture<?> registerTimer(long timestamp, ProcessingTimeCallback target) {
        return timers.registerTimer(Math.max(timestamp, getCurrentProcessingTime() + MIN_DELAY_MILLIS), target);
    }
}
