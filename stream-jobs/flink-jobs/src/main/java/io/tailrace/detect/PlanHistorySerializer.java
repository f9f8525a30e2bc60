package io.tailrace.detect;

import io.tailrace.flink.detection.state.VersionedStateSerializer;
import io.tailrace.plan.change.PlanHistory;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes the plans of a statement. */
// Checkpoints contain the name of this class: do not rename or move it.
public final class PlanHistorySerializer extends VersionedStateSerializer<PlanHistory> {

    private static final long serialVersionUID = 1;

    @Override
    public PlanHistory createInstance() {
        return new PlanHistory();
    }

    @Override
    public void serialize(PlanHistory history, DataOutputView target) throws IOException {
        history.write(target);
    }

    @Override
    public PlanHistory deserialize(DataInputView source) throws IOException {
        return PlanHistory.read(source);
    }

    @Override
    public TypeSerializerSnapshot<PlanHistory> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The serializer snapshot in checkpoints. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<PlanHistory> {
        public Snapshot() {
            super(PlanHistorySerializer::new);
        }
    }
}
