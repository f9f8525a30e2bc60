package io.tailrace.flink.detection.liveness;

import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.alert.AlertContext;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.pipeline.LogGapDetector;
import io.tailrace.detection.detector.pipeline.SignedRangeDetector;
import io.tailrace.event.Alert;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.SignedRange;
import io.tailrace.flink.detection.alerts.AlertRecordFactory;
import io.tailrace.flink.detection.events.EventDecoder;
import io.tailrace.flink.detection.events.EventRecord;
import io.tailrace.flink.detection.rules.ActiveRules;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import java.time.Instant;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.co.BroadcastProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Creates an alert for each gap of the ledger, and for each signed range that failed. It has no state: a repeated record
 * results in the same alert.
 */
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
        ActiveRules active = rules.active(context.getBroadcastState(RuleBroadcastState.STATE));
        if (reader.posting(message.bytes()) instanceof SignedRange range) {
            active.detector(SignedRangeDetector.class)
                    .filter(ranges -> !ranges.isExcepted(range.getCluster(), range.getInstance()))
                    .ifPresent(
                            ranges -> out.collect(alert(ranges.alert(range), range.getCluster(), range.getInstance())));
        } else if (reader.posting(message.bytes()) instanceof LedgerEntry gap) {
            active.detector(LogGapDetector.class)
                    .filter(gaps -> !gaps.isExcepted(gap.getCluster(), gap.getInstance()))
                    .ifPresent(gaps -> out.collect(alert(gaps.alert(gap), gap.getCluster(), gap.getInstance())));
        }
    }

    private static Alert alert(RaisedAlert raised, String cluster, String instance) {
        Map<String, String> alertContext = Map.of(AlertContext.CLUSTER, cluster, AlertContext.INSTANCE, instance);
        return AlertRecordFactory.of(raised, alertContext, false, Instant.now());
    }
}
