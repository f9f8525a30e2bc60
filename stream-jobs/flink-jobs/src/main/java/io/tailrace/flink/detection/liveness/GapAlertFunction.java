package io.tailrace.flink.detection.liveness;

import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.alert.AlertContext;
import io.tailrace.detection.detector.pipeline.LogGapDetector;
import io.tailrace.event.Alert;
import io.tailrace.event.LedgerEntry;
import io.tailrace.flink.detection.alerts.AlertRecordFactory;
import io.tailrace.flink.detection.events.EventDecoder;
import io.tailrace.flink.detection.events.EventRecord;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.co.BroadcastProcessFunction;
import org.apache.flink.util.Collector;

/** Creates an alert for each gap of the ledger. It has no state: a repeated posting results in the same alert. */
public final class GapAlertFunction extends BroadcastProcessFunction<EventRecord, RuleRecord, Alert> {

    private static final long serialVersionUID = 1;

    private final RuleBroadcastState rules;
    private transient EventDecoder reader;

    public GapAlertFunction(RuleBroadcastState rules) {
        this.rules = rules;
    }

    @Override
    public void open(OpenContext context) {
        reader = new EventDecoder();
    }

    @Override
    public void processBroadcastElement(RuleRecord push, Context context, Collector<Alert> out) throws Exception {
        rules.accept(push, context.getBroadcastState(RuleBroadcastState.STATE));
    }

    @Override
    public void processElement(EventRecord message, ReadOnlyContext context, Collector<Alert> out) throws Exception {
        Optional<LogGapDetector> gaps = rules.active(context.getBroadcastState(RuleBroadcastState.STATE))
                .detector(LogGapDetector.class);
        LedgerEntry gap = reader.posting(message.bytes());
        if (gaps.isPresent() && !gaps.get().isExcepted(gap.getCluster(), gap.getInstance())) {
            Map<String, String> alertContext =
                    Map.of(AlertContext.CLUSTER, gap.getCluster(), AlertContext.INSTANCE, gap.getInstance());
            out.collect(AlertRecordFactory.of(gaps.get().alert(gap), alertContext, false, Instant.now()));
        }
    }
}
