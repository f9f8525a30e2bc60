package io.tailrace.flink.detection.rules;

import io.tailrace.detect.RuleRecord;
import java.io.Serializable;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * How an operator gets its rules: those that the job started with, those of its checkpoint, or those that came since;
 * whichever was pushed last. One of each operator, for one subtask.
 */
public final class RuleBroadcastState implements Serializable {

    private static final long serialVersionUID = 1;

    /** The newest bundle by the key "bundle", whatever its own was. */
    public static final MapStateDescriptor<String, RuleRecord> STATE =
            new MapStateDescriptor<>("rules", Types.STRING, TypeInformation.of(RuleRecord.class));

    private final RuleRecord initial;
    private final long latenessMicros;
    private transient ActiveRules active;

    /** @param initial what the topic held when the job started */
    public RuleBroadcastState(RuleRecord initial, long latenessMicros) {
        this.initial = initial;
        this.latenessMicros = latenessMicros;
    }

    public long latenessMicros() {
        return latenessMicros;
    }

    /** The rules in force. */
    public ActiveRules active(ReadOnlyBroadcastState<String, RuleRecord> state) throws Exception {
        if (active == null) {
            RuleRecord kept = state.get(RuleRecord.BUNDLE);
            boolean newer = kept != null && kept.offset() > initial.offset();
            active = ActiveRules.of(newer ? kept : initial, latenessMicros);
        }
        return active;
    }

    /** Takes over a push, unless a newer one is in force. */
    public void accept(RuleRecord push, BroadcastState<String, RuleRecord> state) throws Exception {
        if (push.isBundle() && push.offset() >= active(state).offset()) {
            // Also the one that the job started with: the topic, which is compacted, may keep only later ones.
            state.put(RuleRecord.BUNDLE, push);
            if (push.offset() > active.offset()) {
                active = ActiveRules.of(push, latenessMicros);
            }
        }
    }
}
