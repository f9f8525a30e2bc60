package io.tailrace.detect;

import io.tailrace.detection.detector.CoverageGap;
import io.tailrace.event.Alert;
import io.tailrace.event.LedgerEntry;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.co.BroadcastProcessFunction;
import org.apache.flink.util.Collector;

/** Makes an alert of each gap of the ledger. It has no state: a gap that is posted again gives the same alert. */
final class GapFunction extends BroadcastProcessFunction<EventMessage, RuleRecord, Alert> {

    private static final long serialVersionUID = 1;

    private final RuleBroadcast rules;
    private transient EventReader reader;

    GapFunction(RuleBroadcast rules) {
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
