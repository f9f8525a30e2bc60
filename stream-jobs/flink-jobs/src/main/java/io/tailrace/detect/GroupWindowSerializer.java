package io.tailrace.detect;

import io.tailrace.detection.correlation.GroupWindow;
import io.tailrace.flink.detection.state.VersionedStateSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes the state of one group of a correlation. */
// Checkpoints contain the name of this class: do not rename or move it.
public final class GroupWindowSerializer extends VersionedStateSerializer<GroupWindow> {

    private static final long serialVersionUID = 1;

    @Override
    public GroupWindow createInstance() {
        return new GroupWindow();
    }

    @Override
    public void serialize(GroupWindow window, DataOutputView target) throws IOException {
        window.write(target);
    }

    @Override
    public GroupWindow deserialize(DataInputView source) throws IOException {
        return GroupWindow.read(source);
    }

    @Override
    public TypeSerializerSnapshot<GroupWindow> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The serializer snapshot in checkpoints. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<GroupWindow> {
        public Snapshot() {
            super(GroupWindowSerializer::new);
        }
    }
}
