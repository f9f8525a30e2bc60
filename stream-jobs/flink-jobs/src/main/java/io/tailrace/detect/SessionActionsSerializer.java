package io.tailrace.detect;

import io.tailrace.detection.action.SessionActionState;
import io.tailrace.flink.detection.state.VersionedStateSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes the actions of one connection. */
// Checkpoints contain the name of this class: do not rename or move it.
public final class SessionActionsSerializer extends VersionedStateSerializer<SessionActionState> {

    /**
     * Maximum number of actions of one connection: about 400 bytes each while it is active, 60 otherwise. Actions are
     * stored only for statements that a rule or a detector uses.
     */
    public static final int MAX_ACTIONS = 1_000;

    private static final long serialVersionUID = 1;

    @Override
    public SessionActionState createInstance() {
        return new SessionActionState(MAX_ACTIONS);
    }

    @Override
    public void serialize(SessionActionState actions, DataOutputView target) throws IOException {
        actions.write(target);
    }

    @Override
    public SessionActionState deserialize(DataInputView source) throws IOException {
        return SessionActionState.read(source, MAX_ACTIONS);
    }

    @Override
    public TypeSerializerSnapshot<SessionActionState> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The serializer snapshot in checkpoints. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<SessionActionState> {
        public Snapshot() {
            super(SessionActionsSerializer::new);
        }
    }
}
