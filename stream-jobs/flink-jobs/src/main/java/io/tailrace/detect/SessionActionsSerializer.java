package io.tailrace.detect;

import io.tailrace.detection.action.SessionActionState;
import io.tailrace.flink.detection.state.VersionedStateSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** What is known of the actions of one connection. */
// The name of this class is in checkpoints: do not rename or move it.
public final class SessionActionsSerializer extends VersionedStateSerializer<SessionActionState> {

    /**
     * Actions of one connection: about 400 bytes each while it is used, 60 when not. Actions of a statement that no rule
     * and no detector asks for are not stored.
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

    /** What a checkpoint says of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<SessionActionState> {
        public Snapshot() {
            super(SessionActionsSerializer::new);
        }
    }
}
