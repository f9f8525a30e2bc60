package io.tailrace.flink.detection.liveness;

import io.tailrace.detect.HeardState;
import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.alert.AlertContext;
import io.tailrace.detection.detector.pipeline.CensusTimeoutDetector;
import io.tailrace.event.Alert;
import io.tailrace.flink.detection.alerts.AlertRecordFactory;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.function.SerializableSupplier;

/**
 * Raises an alert when the census of an instance stops. Keyed by instance.
 *
 * <p>The timeout is measured by this machine's clock, from the arrival of the newest census or the start of the job,
 * whichever is later. Records that arrived during downtime of the job are read before the timeout ends, so a backlog
 * causes no alert.
 */
public final class CensusTimeoutFunction
        extends KeyedBroadcastProcessFunction<String, CensusHeartbeat, RuleRecord, Alert> {

    private static final long serialVersionUID = 1;
    private static final long MICROS_PER_MILLI = 1000;
    private static final long AGAIN_MILLIS = CensusTimeoutDetector.AGAIN_MICROS / MICROS_PER_MILLI;
    /** Maximum interval between two checks of an instance, because a push may shorten the timeout. */
    private static final long TIMER_INTERVAL_MILLIS = Duration.ofSeconds(10).toMillis();

    private final RuleBroadcastState rules;
    private final SerializableSupplier<Long> clock;

    private transient ValueState<HeardState> states;
    private transient long startedAt;

    /** @param clock milliseconds since 1970 */
    public CensusTimeoutFunction(RuleBroadcastState rules, SerializableSupplier<Long> clock) {
        this.rules = rules;
        this.clock = clock;
    }

    @Override
    public void open(OpenContext context) {
        startedAt = clock.get();
        states =
                getRuntimeContext().getState(new ValueStateDescriptor<>("heard", TypeInformation.of(HeardState.class)));
    }

    @Override
    public void processBroadcastElement(RuleRecord push, Context context, Collector<Alert> out) throws Exception {
        rules.accept(push, context.getBroadcastState(RuleBroadcastState.STATE));
    }

    @Override
    public void processElement(CensusHeartbeat heartbeat, ReadOnlyContext context, Collector<Alert> out)
            throws Exception {
        TimerService timers = context.timerService();
        long now = timers.currentProcessingTime();
        long micros = Math.min(heartbeat.micros(), now * MICROS_PER_MILLI);
        HeardState known = states.value();
        if (known == null) {
            timers.registerProcessingTimeTimer(now + TIMER_INTERVAL_MILLIS);
        }
        if (known == null || micros > known.newestMicros()) {
            states.update(new HeardState(heartbeat.cluster(), micros, now, HeardState.NEVER));
        }
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Alert> out) throws Exception {
        HeardState known = states.value();
        if (known == null) {
            return;
        }
        long now = context.timerService().currentProcessingTime();
        Optional<CensusTimeoutDetector> coverage = rules.active(context.getBroadcastState(RuleBroadcastState.STATE))
                .detector(CensusTimeoutDetector.class);
        long kept = coverage.map(CensusTimeoutDetector::ttlMicros).orElse(CensusTimeoutDetector.DEFAULT_TTL_MICROS);
        if (now * MICROS_PER_MILLI - known.newestMicros() > kept) {
            states.clear();
            return;
        }
        if (coverage.isPresent()) {
            checkTimeout(known, coverage.get(), context.getCurrentKey(), now, out);
        }
        context.timerService().registerProcessingTimeTimer(now + TIMER_INTERVAL_MILLIS);
    }

    private void checkTimeout(
            HeardState known, CensusTimeoutDetector coverage, String instance, long now, Collector<Alert> out)
            throws Exception {
        long timeout = coverage.timeoutMicros() / MICROS_PER_MILLI;
        long day = Math.floorDiv(now - known.heardAt() - timeout, AGAIN_MILLIS);
        boolean due = day > known.saidOn() && now - startedAt >= timeout;
        if (due && !coverage.isExcepted(known.cluster(), instance)) {
            states.update(known.withAlertDay(day));
            Map<String, String> context =
                    Map.of(AlertContext.CLUSTER, known.cluster(), AlertContext.INSTANCE, instance);
            out.collect(AlertRecordFactory.of(
                    coverage.alert(instance, known.newestMicros(), day, now * MICROS_PER_MILLI),
                    context,
                    false,
                    Instant.ofEpochMilli(now)));
        }
    }
}
