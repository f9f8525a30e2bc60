package io.tailrace.flink.detection.events;

import io.tailrace.detect.ByteRangesSerializer;
import io.tailrace.detect.PlanSighting;
import io.tailrace.flink.detection.plans.CapturedStatementsState;
import io.tailrace.flink.detection.state.ByteRangeSet;
import java.time.Duration;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Passes each event of a log once. The topic contains events at least once: the normalize job writes some again after a
 * crash, and a job that starts at an earlier offset reads them again. Keyed by log.
 *
 * <p>It also marks executions of statements whose plan was captured, so that only those are sent to the operator that
 * tracks plans. It does so because it is already behind a shuffle: a separate stage would serialize every event once
 * more.
 *
 * <p>Memory per log: {@link ByteRangeSet} for each of its files with recent events.
 */
public final class EventDeduplicator
        extends KeyedBroadcastProcessFunction<String, EventRecord, PlanSighting, EventRecord> {

    private static final long serialVersionUID = 1;

    private final Duration remembered;
    private transient MapState<Long, ByteRangeSet> seen;
    private transient Counter duplicates;
    private transient EventDecoder reader;
    private transient CapturedStatementsState captured;

    /** @param remembered how long a file without new events is remembered; longer than the retention of the topic */
    public EventDeduplicator(Duration remembered) {
        this.remembered = remembered;
    }

    @Override
    public void open(OpenContext context) {
        MapStateDescriptor<Long, ByteRangeSet> descriptor =
                new MapStateDescriptor<>("seen", LongSerializer.INSTANCE, new ByteRangesSerializer());
        descriptor.enableTimeToLive(StateTtlConfig.newBuilder(remembered).build());
        seen = getRuntimeContext().getMapState(descriptor);
        reader = new EventDecoder();
        captured = new CapturedStatementsState();
        duplicates = getRuntimeContext().getMetricGroup().counter("duplicate-events");
    }

    @Override
    public void processBroadcastElement(PlanSighting capture, Context context, Collector<EventRecord> out)
            throws Exception {
        captured.add(
                context.getBroadcastState(CapturedStatementsState.STATE),
                capture.statement(),
                context.currentProcessingTime());
    }

    @Override
    public void processElement(EventRecord event, ReadOnlyContext context, Collector<EventRecord> out)
            throws Exception {
        ByteRangeSet ranges = seen.get(event.generation());
        if (ranges == null) {
            ranges = new ByteRangeSet();
        }
        if (ranges.add(event.offset(), event.offset() + event.length())) {
            seen.put(event.generation(), ranges);
            out.collect(withTrackedPlan(event, context.getBroadcastState(CapturedStatementsState.STATE)));
        } else {
            duplicates.inc();
        }
    }

    private EventRecord withTrackedPlan(
            EventRecord event, ReadOnlyBroadcastState<PlanSighting.Statement, Long> statements) throws Exception {
        boolean isFollowed = event.queryId() != 0
                && event.execution() == null
                && !event.backfilled()
                && statements.contains(new PlanSighting.Statement(event.instance(), event.queryId()));
        return isFollowed ? event.with(reader.execution(event.bytes())) : event;
    }
}
