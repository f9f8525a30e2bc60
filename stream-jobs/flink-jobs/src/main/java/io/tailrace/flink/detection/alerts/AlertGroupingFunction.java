package io.tailrace.flink.detection.alerts;

import io.tailrace.detect.AlertGroup;
import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.alert.AlertGroupId;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.event.Alert;
import io.tailrace.event.EventId;
import io.tailrace.flink.detection.rules.InitialRules;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Emits the first alert of a rule, an entity and an interval of event time immediately. Further ones increase its
 * count, and it is emitted again at most every few seconds. The stream is keyed by these three, and the id of the group
 * is derived from them, because alerts may arrive in another order after a crash and must update the same row. Marks
 * alerts that a suppression covers.
 */
public final class AlertGroupingFunction extends KeyedBroadcastProcessFunction<String, Alert, RuleRecord, Alert> {

    /** Suppressions by their keys. */
    public static final MapStateDescriptor<String, RuleRecord> SILENCES =
            new MapStateDescriptor<>("silences", Types.STRING, TypeInformation.of(RuleRecord.class));

    private static final long serialVersionUID = 1;
    /** Maximum number of merged alerts whose ids are remembered for deduplication. */
    private static final int MAX_SEEN = 1_000;

    /** Levels by their names in alerts, from the lowest. */
    private static final List<String> LEVELS = Arrays.stream(Level.values())
            .map(level -> level.name().toLowerCase(Locale.ROOT))
            .toList();

    private final InitialRules newest;
    private final long groupMillis;
    private final long updateMillis;
    private final long rememberedMillis;

    private transient ValueState<AlertGroup> groups;
    private transient ActiveSuppressions silences;

    /**
     * @param newest contents of the topic when the job started
     * @param group interval of event time whose alerts are merged
     * @param update minimum interval between two updates of an alert
     * @param remembered how long after its last update a group is remembered, so that its count continues
     */
    public AlertGroupingFunction(InitialRules newest, Duration group, Duration update, Duration remembered) {
        this.newest = newest;
        this.groupMillis = group.toMillis();
        this.updateMillis = update.toMillis();
        this.rememberedMillis = Math.max(groupMillis, remembered.toMillis());
    }

    /**
     * Returns the key of the group of an alert.
     *
     * @param group as in the constructor; intervals begin at multiples of it since 1970
     */
    public static String key(Alert alert, Duration group) {
        return AlertGroupId.key(
                alert.getRuleId(), alert.getEntityKey(), alert.getEventTime().toEpochMilli(), group.toMillis());
    }

    @Override
    public void open(OpenContext context) {
        groups =
                getRuntimeContext().getState(new ValueStateDescriptor<>("group", TypeInformation.of(AlertGroup.class)));
    }

    @Override
    public void processBroadcastElement(RuleRecord silence, Context context, Collector<Alert> out) throws Exception {
        BroadcastState<String, RuleRecord> state = context.getBroadcastState(SILENCES);
        silences(state).accept(silence, state, Instant.ofEpochMilli(context.currentProcessingTime()));
    }

    @Override
    public void processElement(Alert alert, ReadOnlyContext context, Collector<Alert> out) throws Exception {
        long now = context.timerService().currentProcessingTime();
        alert.setSilenced(silences(context.getBroadcastState(SILENCES)).cover(alert, Instant.ofEpochMilli(now)));
        AlertGroup group = groups.value();
        if (group == null) {
            open(alert, now, context, out);
        } else if (Arrays.stream(group.seen()).noneMatch(seen -> seen == id(alert))) {
            raise(group, alert, now, context, out);
        }
    }

    private ActiveSuppressions silences(ReadOnlyBroadcastState<String, RuleRecord> state) throws Exception {
        if (silences == null) {
            silences = new ActiveSuppressions(newest, state);
        }
        return silences;
    }

    private void open(Alert alert, long now, ReadOnlyContext context, Collector<Alert> out) throws Exception {
        Instant time = Instant.ofEpochMilli(now);
        alert.setSeenAt(time);
        alert.setUpdatedAt(time);
        long own = id(alert);
        alert.setAlertId(groupId(context.getCurrentKey()));
        groups.update(new AlertGroup(alert, now, now, false, new long[] {own}));
        context.timerService().registerProcessingTimeTimer(now + groupMillis);
        out.collect(alert);
    }

    private static EventId groupId(String key) {
        return new EventId(AlertGroupId.of(key));
    }

    private void raise(AlertGroup group, Alert more, long now, ReadOnlyContext context, Collector<Alert> out)
            throws Exception {
        Alert raised = Alert.newBuilder(group.alert()).build();
        merge(raised, more, now);
        AlertGroup changed = new AlertGroup(raised, group.openedAt(), group.writtenAt(), true, seen(group, more));
        if (now - group.writtenAt() >= updateMillis) {
            out.collect(raised);
            changed = changed.passedOn(now);
        } else if (!group.pending()) {
            context.timerService().registerProcessingTimeTimer(group.writtenAt() + updateMillis);
        }
        groups.update(changed);
    }

    private static void merge(Alert raised, Alert more, long now) {
        boolean sumsUpMore = more.getMetric() > raised.getMetric();
        raised.setCount(raised.getCount() + more.getCount());
        raised.setUpdatedAt(later(raised.getUpdatedAt(), Instant.ofEpochMilli(now)));
        raised.setMetric(Math.max(raised.getMetric(), more.getMetric()));
        raised.setWindowFrom(earlier(raised.getWindowFrom(), more.getWindowFrom()));
        raised.setEventIds(
                first(raised.getEventIds(), more.getEventIds(), io.tailrace.detection.alert.RaisedAlert.MAX_EVENTS));
        raised.setStatements(first(
                raised.getStatements(), more.getStatements(), io.tailrace.detection.alert.RaisedAlert.MAX_STATEMENTS));
        raised.setLate(raised.getLate() && more.getLate());
        raised.setSilenced(raised.getSilenced() && more.getSilenced());
        raised.setTags(more.getTags());
        raised.setNextSteps(more.getNextSteps());
        raised.setFalsePositives(more.getFalsePositives());
        if (rank(more) > rank(raised)) {
            raised.setLevel(more.getLevel());
            raised.setFacts(more.getFacts());
        } else if (rank(more) == rank(raised) && sumsUpMore) { // it summarizes the earlier alerts
            raised.setFacts(more.getFacts());
        }
    }

    /** One rule may raise alerts of several levels, such as gaps before and after the first read byte. */
    private static int rank(Alert alert) {
        return LEVELS.indexOf(alert.getLevel());
    }

    /** Returns the later time, because the row with the latest time counts even if the clock was set back. */
    private static Instant later(Instant a, Instant b) {
        return a.isAfter(b) ? a : b;
    }

    private static Instant earlier(Instant a, Instant b) {
        return a.isBefore(b) ? a : b;
    }

    private static List<String> first(List<String> known, List<String> more, int limit) {
        Set<String> all = new LinkedHashSet<>(known);
        all.addAll(more);
        return new ArrayList<>(all).subList(0, Math.min(limit, all.size()));
    }

    private static long[] seen(AlertGroup group, Alert more) {
        int from = group.seen().length < MAX_SEEN ? 0 : 1;
        long[] seen = Arrays.copyOfRange(group.seen(), from, group.seen().length + 1);
        seen[seen.length - 1] = id(more);
        return seen;
    }

    private static long id(Alert alert) {
        return ByteBuffer.wrap(alert.getAlertId().bytes()).getLong();
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<Alert> out) throws Exception {
        AlertGroup group = groups.value();
        if (group == null) {
            return;
        }
        long now = context.timerService().currentProcessingTime();
        if (group.pending()) {
            out.collect(group.alert());
            group = group.passedOn(now);
        }
        if (now - group.writtenAt() >= rememberedMillis) {
            groups.clear();
            return;
        }
        if (now - group.openedAt() >= groupMillis) {
            group = group.trimmed();
            context.timerService().registerProcessingTimeTimer(group.writtenAt() + rememberedMillis);
        }
        groups.update(group);
    }
}
