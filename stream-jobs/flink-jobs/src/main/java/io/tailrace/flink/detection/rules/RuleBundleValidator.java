package io.tailrace.flink.detection.rules;

import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.sigma.rule.RuleExceptions;
import io.tailrace.event.RulePush;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import org.apache.flink.api.common.accumulators.LongMaximum;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes suppressions and valid pushes, and reports the result of each push. All downstream tasks receive the same
 * pushes, so either all of them activate one or none does. A candidate that becomes the bundle is the same push and
 * passes once.
 *
 * <p>Sets the accumulator {@value #RULES_ACTIVE} to whether there are rules: without them, all tasks run but nothing
 * is detected.
 */
public final class RuleBundleValidator extends ProcessFunction<RuleRecord, RuleRecord> implements CheckpointedFunction {

    public static final OutputTag<RulePush> PUSHES = new OutputTag<>("pushes", new AvroTypeInfo<>(RulePush.class));

    private static final long serialVersionUID = 1;
    private static final Logger LOG = LoggerFactory.getLogger(RuleBundleValidator.class);

    /** 1 if rules are active; embedded/tailrace_local/components/detect.py reads it. */
    static final String RULES_ACTIVE = "rules-active";

    /** Number of exceptions that have no effect any more; embedded/tailrace/health/alerts.yaml compares it. */
    static final String EXPIRED_EXCEPTIONS = "expired-exceptions";

    private static final long MICROS_PER_MILLI = 1000;

    private static final ListStateDescriptor<String> LAST_PUSH =
            new ListStateDescriptor<>("last-accepted-push", Types.STRING);

    private final InitialRules newest;
    private final Clock clock;
    private final LongMaximum rulesActive = new LongMaximum(0);

    private transient ListState<String> state;
    /** Id of the active push; empty if there is none. */
    private transient String accepted;

    private transient volatile RuleExceptions exceptions;

    /** @param newest contents of the topic when the job started */
    public RuleBundleValidator(InitialRules newest) {
        this(newest, Clock.systemUTC());
    }

    RuleBundleValidator(InitialRules newest, Clock clock) {
        this.newest = newest;
        this.clock = clock;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        state = context.getOperatorStateStore().getListState(LAST_PUSH);
        accepted = "";
        // A checkpoint without this state is of an earlier version. Whether rules are active is then unknown, so no
        // alert is raised.
        boolean unknown = context.isRestored();
        for (String push : state.get()) {
            accepted = push;
            unknown = false;
        }
        rulesActive.add(unknown || !accepted.isEmpty() || newest.hasBundle() ? 1 : 0);
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        state.update(List.of(accepted));
    }

    @Override
    public void open(OpenContext context) {
        getRuntimeContext().addAccumulator(RULES_ACTIVE, rulesActive);
        exceptions = CompiledBundle.of(newest.bundle().json()).bundle().rules().exceptions();
        getRuntimeContext().getMetricGroup().gauge(EXPIRED_EXCEPTIONS, this::expiredExceptions);
    }

    int expiredExceptions() {
        return exceptions.expiredAt(clock.millis() * MICROS_PER_MILLI).size();
    }

    @Override
    public void processElement(RuleRecord rules, Context context, Collector<RuleRecord> out) {
        if (rules.isSilence()) {
            out.collect(rules);
        } else if (rules.isBundle() && !rules.json().isEmpty()) {
            CompiledBundle push = CompiledBundle.of(rules.json());
            if (push.id().isEmpty() || !push.id().equals(accepted)) {
                decide(push, rules, context, out);
            }
        }
    }

    private void decide(CompiledBundle push, RuleRecord rules, Context context, Collector<RuleRecord> out) {
        log(push, rules.offset());
        if (!push.isRefused()) {
            accepted = push.id();
            exceptions = push.bundle().rules().exceptions();
            rulesActive.add(1);
            out.collect(rules);
        }
        // Afterwards: a reader of the row may expect the rules on their way.
        context.output(PUSHES, outcome(push, rules.offset()));
    }

    private static void log(CompiledBundle push, long offset) {
        if (push.isRefused()) {
            LOG.warn("push {} at offset {} is rejected: {}", push.id(), offset, push.refusal());
        } else {
            LOG.info("push {} at offset {} is accepted", push.id(), offset);
            push.bundle().warnings().forEach(warning -> LOG.warn("push {}: {}", push.id(), warning));
        }
    }

    private RulePush outcome(CompiledBundle push, long offset) {
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
        outcome.setAtStart(offset <= newest.lastOffset());
        return outcome;
    }
}
