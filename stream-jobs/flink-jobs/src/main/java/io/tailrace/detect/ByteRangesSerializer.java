package io.tailrace.detect;

import io.tailrace.flink.detection.state.ByteRanges;
import io.tailrace.flink.detection.state.StateSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** 16 bytes for each range. */
public final class ByteRangesSerializer extends StateSerializer<ByteRanges> {

    private static final long serialVersionUID = 1;

    @Override
    public ByteRanges createInstance() {
        return new ByteRanges();
    }

    @Override
    public void serialize(ByteRanges ranges, DataOutputView target) throws IOException {
        ranges.write(target);
    }

    @Override
    public ByteRanges deserialize(DataInputView source) throws IOException {
        return ByteRanges.read(source);
    }

    @Override
    public TypeSerializerSnapshot<ByteRanges> snapshotConfiguration() {
        return new Snapshot();
    }

    /** What a checkpoint says of this serializer. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<ByteRanges> {
        public Snapshot() {
            super(ByteRangesSerializer::new);
        }
    }
}
