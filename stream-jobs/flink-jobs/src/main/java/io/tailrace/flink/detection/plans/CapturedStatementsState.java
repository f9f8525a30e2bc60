package io.tailrace.flink.detection.plans;

import io.tailrace.detect.PlanSighting;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * The statements with recently captured plans: in the broadcast state, each with the time at which its last capture was
 * read, milliseconds since 1970 by this machine's clock. Clocks of servers do not affect expiry.
 */
public final class CapturedStatementsState {

    public static final MapStateDescriptor<PlanSighting.Statement, Long> STATE = new MapStateDescriptor<>(
            "captured-statements", TypeInformation.of(PlanSighting.Statement.class), Types.LONG);

    /** Captures arrive hourly while a statement is among the heaviest of its server. */
    static final Duration REMEMBERED = Duration.ofDays(7);

    private static final Duration SWEPT_EVERY = Duration.ofHours(6);

    private long sweptAt = Long.MIN_VALUE;

    /** @param now milliseconds since 1970 */
    public void add(BroadcastState<PlanSighting.Statement, Long> state, PlanSighting.Statement captured, long now)
            throws Exception {
        state.put(captured, now);
        if (sweptAt == Long.MIN_VALUE || now - sweptAt >= SWEPT_EVERY.toMillis()) {
            sweptAt = now;
            sweep(state, now - REMEMBERED.toMillis());
        }
    }

    private static void sweep(BroadcastState<PlanSighting.Statement, Long> state, long oldest) throws Exception {
        Iterator<? extends Map.Entry<PlanSighting.Statement, Long>> entries = state.iterator();
        while (entries.hasNext()) {
            if (entries.next().getValue() < oldest) {
                entries.remove();
            }
        }
    }
}
