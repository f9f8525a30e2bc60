package io.tailrace.flink.detection.liveness;

import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.detector.pipeline.CoverageGap;
import io.tailrace.event.Alert;
import io.tailrace.event.LedgerEntry;
import io.tailrace.flink.detection.alerts.About;
import io.tailrace.flink.detection.alerts.AlertRecords;
import io.tailrace.flink.detection.events.EventMessage;
import io.tailrace.flink.detection.events.EventReader;
import io.tailrace.flink.detection.rules.RuleBroadcast;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.co.BroadcastProcessFunction;
import org.apache.flink.util.Collector;

/** Makes an alert of each gap of the ledger. It has no state: a gap that is posted again gives the same alert. */
public final class GapFunction extends BroadcastProcessFunction<EventMessage, RuleRecord, Alert> {

    private static final long serialVersionUID = 1;

    private final RuleBroadcast rules;
    private transient EventReader reader;

    public GapFunction(RuleBroadcast rules) {
        this.rules = rules;
    }

    @Override
    public void open(OpenContext context) {
        reader = new EventReader();
    }

    @Override
    public void processBroadcastElement(RuleRecord push, Context context, Collector<Alert> out) throws Exception {
        rules.accept(push, context.getBroadcastState(RuleBroadcast.STATE));
    }

    @Override
    public void processElement(EventMessage message, ReadOnlyContext context, Collector<Alert> out) throws Exception {
        Optional<CoverageGap> gaps =
                rules.active(context.getBroadcastState(RuleBroadcast.STATE)).detector(CoverageGap.class);
        LedgerEntry gap = reader.posting(message.bytes());
        if (gaps.isPresent() && !gaps.get().isExcepted(gap.getCluster(), gap.getInstance())) {
            Map<String, String> about = Map.of(About.CLUSTER, gap.getCluster(), About.INSTANCE, gap.getInstance());
            out.collect(AlertRecords.of(gaps.get().alert(gap), about, false, Instant.now()));
        }
    }
}
