package io.tailrace.detect;

import io.tailrace.flink.detection.state.ByteRangeSet;
import io.tailrace.flink.detection.state.VersionedStateSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes byte ranges, 16 bytes per range. */
// Checkpoints contain the name of this class: do not rename or move it.
public final class ByteRangesSerializer extends VersionedStateSerializer<ByteRangeSet> {

    private static final long serialVersionUID = 1;

    @Override
    public ByteRangeSet createInstance() {
        return new ByteRangeSet();
    }

    @Override
    public void serialize(ByteRangeSet ranges, DataOutputView target) throws IOException {
        ranges.write(target);
    }

    @Override
    public ByteRangeSet deserialize(DataInputView source) throws IOException {
        return ByteRangeSet.read(source);
    }

    @Override
    public TypeSerializerSnapshot<ByteRangeSet> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The serializer snapshot in checkpoints. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<ByteRangeSet> {
        public Snapshot() {
            super(ByteRangesSerializer::new);
        }
    }
}
