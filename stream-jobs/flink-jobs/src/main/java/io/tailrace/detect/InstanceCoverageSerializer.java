package io.tailrace.detect;

import io.tailrace.detection.coverage.InstanceCoverage;
import io.tailrace.flink.detection.state.VersionedStateSerializer;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializes the contents of the logs of a server and the emitted coverage results. */
// Checkpoints contain the name of this class: do not rename or move it.
public final class InstanceCoverageSerializer extends VersionedStateSerializer<InstanceCoverage> {

    private static final long serialVersionUID = 1;

    @Override
    public InstanceCoverage createInstance() {
        return new InstanceCoverage(0);
    }

    @Override
    public void serialize(InstanceCoverage coverage, DataOutputView target) throws IOException {
        coverage.write(target);
    }

    @Override
    public InstanceCoverage deserialize(DataInputView source) throws IOException {
        return InstanceCoverage.read(source);
    }

    @Override
    public TypeSerializerSnapshot<InstanceCoverage> snapshotConfiguration() {
        return new Snapshot();
    }

    /** The serializer snapshot in checkpoints. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<InstanceCoverage> {
        public Snapshot() {
            super(InstanceCoverageSerializer::new);
        }
    }
}
