package io.tailrace.flink.detection.rules;

import io.tailrace.detect.RuleRecord;
import java.io.Serializable;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.typeutils.base.StringSerializer;

/**
 * Provides the active rules to an operator: the initial rules of the job, those of its checkpoint, or those that
 * arrived later, whichever push is the newest. One instance per operator and subtask.
 */
public final class RuleBroadcastState implements Serializable {

    private static final long serialVersionUID = 1;

    /** The newest bundle under the key "bundle", regardless of its own key. */
    public static final MapStateDescriptor<String, RuleRecord> STATE =
            new MapStateDescriptor<>("rules", StringSerializer.INSTANCE, new RuleRecordSerializer());

    private final RuleRecord initial;
    private final long latenessMicros;
    private transient ActiveRules active;

    /** @param initial bundle of the topic when the job started */
    public RuleBroadcastState(RuleRecord initial, long latenessMicros) {
        this.initial = initial;
        this.latenessMicros = latenessMicros;
    }

    public long latenessMicros() {
        return latenessMicros;
    }

    /** Returns the active rules. */
    public ActiveRules active(ReadOnlyBroadcastState<String, RuleRecord> state) throws Exception {
        if (active == null) {
            RuleRecord kept = state.get(RuleRecord.BUNDLE);
            boolean newer = kept != null && kept.offset() > initial.offset();
            active = ActiveRules.of(newer ? kept : initial, latenessMicros);
        }
        return active;
    }

    /** Activates a push, unless a newer one is active. */
    public void accept(RuleRecord push, BroadcastState<String, RuleRecord> state) throws Exception {
        if (push.isBundle() && push.offset() >= active(state).offset()) {
            // Stores also the initial bundle, because the compacted topic may retain only later ones.
            state.put(RuleRecord.BUNDLE, push);
            if (push.offset() > active.offset()) {
                active = ActiveRules.of(push, latenessMicros);
            }
        }
    }
}
