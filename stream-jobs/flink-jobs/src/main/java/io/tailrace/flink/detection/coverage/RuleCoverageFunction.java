package io.tailrace.flink.detection.coverage;

import io.tailrace.detect.InstanceCoverageSerializer;
import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.coverage.InstanceCoverage;
import io.tailrace.detection.coverage.MissingRequirement;
import io.tailrace.detection.coverage.RuleCoverageAnswers;
import io.tailrace.detection.coverage.RuleCoverageResult;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.event.RuleCoverageEntry;
import io.tailrace.flink.detection.rules.ActiveRules;
import io.tailrace.flink.detection.rules.RuleBroadcastState;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Determines which rules can fire on each log of an instance, and on all its logs together: when rules are pushed, when
 * events have new fields, and once after each start of the job, because another version may judge the same rules
 * otherwise. Keyed by instance.
 *
 * <p>A row is written when a result changes, and all rows of an instance once per {@link #PERIOD}, so that the table
 * can drop rows that are no longer confirmed. After a crash some are written again with a later time; the latest
 * counts.
 *
 * <p>Instances take turns, one per {@link #PACE} in each subtask: a new one has a row for each rule and each log, and
 * the rows of 10,000 new instances at once delayed alerts by minutes.
 */
public final class RuleCoverageFunction
        extends KeyedBroadcastProcessFunction<String, LogContentsUpdate, RuleRecord, RuleCoverageEntry> {

    private static final long serialVersionUID = 1;

    /** Fields that no event had in two periods are forgotten. sql/retention.yaml stores rows for three. */
    static final Duration PERIOD = Duration.ofDays(30);
    /**
     * Delay of evaluation, because a log that is read for the first time has new fields in many of its first events.
     */
    static final Duration SETTLING = Duration.ofSeconds(5);
    /** With 1,000 rows for each instance, a subtask writes at most 5,000 rows a second. */
    static final Duration PACE = Duration.ofMillis(200);

    private static final long MICROS_PER_MILLI = 1000;

    private static final ValueStateDescriptor<InstanceCoverage> COVERAGE =
            new ValueStateDescriptor<>("rule-coverage", new InstanceCoverageSerializer());

    private final RuleBroadcastState rules;
    private transient ValueState<InstanceCoverage> state;
    /** Instances whose results were computed since the job started. */
    private transient Set<String> evaluated;
    /** Processing times in ms of the turns of instances that wait for one; after a restore they get new ones. */
    private transient Map<String, Long> turns;

    private transient long nextTurn;
    /** The results of the active rules. */
    private transient RuleCoverageAnswers answers;

    public RuleCoverageFunction(RuleBroadcastState rules) {
        this.rules = rules;
    }

    @Override
    public void open(OpenContext context) {
        state = getRuntimeContext().getState(COVERAGE);
        evaluated = new HashSet<>();
        turns = new HashMap<>();
    }

    @Override
    public void processBroadcastElement(RuleRecord push, Context context, Collector<RuleCoverageEntry> out)
            throws Exception {
        if (!push.isBundle()) {
            return;
        }
        rules.accept(push, context.getBroadcastState(RuleBroadcastState.STATE));
        ActiveRules active = rules.active(context.getBroadcastState(RuleBroadcastState.STATE));
        long now = context.currentProcessingTime();
        context.applyToKeyedState(COVERAGE, (instance, known) -> {
            InstanceCoverage coverage = known.value();
            emitChanges(coverage, instance, active, false, now, out);
            known.update(coverage);
        });
    }

    @Override
    public void processElement(LogContentsUpdate update, ReadOnlyContext context, Collector<RuleCoverageEntry> out)
            throws Exception {
        TimerService timers = context.timerService();
        long now = timers.currentProcessingTime();
        InstanceCoverage coverage = state.value();
        if (coverage == null) {
            coverage = new InstanceCoverage(now);
            timers.registerProcessingTimeTimer(now + PERIOD.toMillis());
        }
        boolean mayChange = coverage.add(update.cluster(), update.log(), update.read());
        if ((evaluated.add(context.getCurrentKey()) || mayChange) && coverage.refreshAt() == 0) {
            coverage.refreshAt(now + SETTLING.toMillis());
            timers.registerProcessingTimeTimer(coverage.refreshAt());
        }
        state.update(coverage);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<RuleCoverageEntry> out) throws Exception {
        InstanceCoverage coverage = state.value();
        if (coverage == null) {
            return;
        }
        TimerService timers = context.timerService();
        long now = timers.currentProcessingTime();
        boolean isDue = coverage.refreshAt() != 0 && timestamp >= coverage.refreshAt();
        boolean isOver = timestamp >= coverage.periodFrom() + PERIOD.toMillis();
        if (!(isDue || isOver) || !hasTurn(context.getCurrentKey(), timers)) {
            return;
        }
        if (isOver) {
            coverage.endPeriod(now);
        }
        coverage.refreshAt(0);
        emitChanges(coverage, context.getCurrentKey(), active(context), isOver, now, out);
        keep(coverage, isOver, timers);
    }

    /** Otherwise it has a timer for its turn. */
    private boolean hasTurn(String instance, TimerService timers) {
        long now = timers.currentProcessingTime();
        Long turn = turns.get(instance);
        if (turn == null) {
            turn = Math.max(now, nextTurn);
            nextTurn = turn + PACE.toMillis();
            if (turn > now) {
                turns.put(instance, turn);
                timers.registerProcessingTimeTimer(turn);
            }
        }
        if (turn > now) {
            return false;
        }
        turns.remove(instance);
        return true;
    }

    private ActiveRules active(OnTimerContext context) throws Exception {
        ReadOnlyBroadcastState<String, RuleRecord> pushed = context.getBroadcastState(RuleBroadcastState.STATE);
        return rules.active(pushed);
    }

    private void keep(InstanceCoverage coverage, boolean isNewPeriod, TimerService timers) throws IOException {
        if (coverage.isEmpty()) {
            state.clear();
            return;
        }
        if (isNewPeriod) {
            timers.registerProcessingTimeTimer(coverage.periodFrom() + PERIOD.toMillis());
        }
        state.update(coverage);
    }

    private void emitChanges(
            InstanceCoverage coverage,
            String instance,
            ActiveRules active,
            boolean refresh,
            long nowMillis,
            Collector<RuleCoverageEntry> out) {
        if (answers == null || !answers.areOf(active.rules(), active.hasDataClasses())) {
            answers = new RuleCoverageAnswers(active.rules(), active.hasDataClasses());
        }
        coverage.changedResults(
                answers,
                refresh,
                nowMillis * MICROS_PER_MILLI,
                reported -> out.collect(entry(coverage.cluster(), instance, reported)));
    }

    private static RuleCoverageEntry entry(String cluster, String instance, InstanceCoverage.ObservedLog reported) {
        RuleCoverageEntry entry = new RuleCoverageEntry();
        entry.setCluster(cluster);
        entry.setInstance(instance);
        entry.setSource(reported.log());
        entry.setRuleId(reported.ruleKey());
        entry.setChangedAt(time(reported.changedAt()));
        entry.setToldAt(time(reported.reportedAt()));
        entry.setInForce(reported.answer() != null);
        setAnswer(entry, reported.answer());
        return entry;
    }

    private static void setAnswer(RuleCoverageEntry entry, RuleCoverageResult answer) {
        RuleHeader rule = answer == null ? null : answer.rule();
        MissingRequirement obstacle = answer == null ? null : answer.obstacle().orElse(null);
        entry.setRuleTitle(rule == null ? "" : rule.title());
        entry.setLevel(rule == null ? "" : rule.level().name().toLowerCase(Locale.ROOT));
        entry.setTags(rule == null ? List.of() : rule.tags());
        entry.setCanFire(answer != null && answer.canFire());
        entry.setReason(obstacle == null ? "" : obstacle.reason());
        entry.setMissingFields(obstacle == null ? List.of() : obstacle.missingFields());
        entry.setMissingClasses(obstacle == null ? List.of() : obstacle.missingClasses());
    }

    private static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}
