package io.tailrace.detect;

import io.tailrace.event.RulePush;
import java.time.Instant;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets good pushes through, and silences; says of each push what became of it. All tasks behind it get the same pushes,
 * so either all of them take one over or none.
 */
final class RuleGate extends ProcessFunction<RuleRecord, RuleRecord> {

    static final OutputTag<RulePush> PUSHES = new OutputTag<>("pushes", new AvroTypeInfo<>(RulePush.class));

    private static final long serialVersionUID = 1;
    private static final Logger LOG = LoggerFactory.getLogger(RuleGate.class);

    private final long initialOffset;

    /** @param initialOffset of the newest record that was there when the job started */
    RuleGate(long initialOffset) {
        this.initialOffset = initialOffset;
    }

    @Override
    public void processElement(RuleRecord rules, Context context, Collector<RuleRecord> out) {
        if (rules.isSilence()) {
            out.collect(rules);
        } else if (rules.isBundle() && !rules.json().isEmpty()) {
            Push push = Push.of(rules.json());
            log(push, rules.offset());
            context.output(PUSHES, outcome(push, rules.offset()));
            if (!push.isRefused()) {
                out.collect(rules);
            }
        }
    }

    private static void log(Push push, long offset) {
        if (push.isRefused()) {
            LOG.warn("push {} at offset {} is refused: {}", push.id(), offset, push.refusal());
        } else {
            LOG.info("push {} at offset {} is accepted", push.id(), offset);
        }
    }

    private RulePush outcome(Push push, long offset) {
        RulePush outcome = new RulePush();
        outcome.setPushId(push.id());
        outcome.setAt(Instant.now());
        outcome.setAccepted(!push.isRefused());
        outcome.setPushedBy(push.by());
        outcome.setRules(push.bundle().rules().rules().size()
                + push.bundle().rules().correlations().size());
        outcome.setDetectors(push.bundle().detectors().size());
        outcome.setClasses(push.bundle().dataClasses().classes().size());
        outcome.setMessage(push.refusal());
        outcome.setBundleOffset(offset);
        outcome.setAtStart(offset <= initialOffset);
        return outcome;
    }
}
