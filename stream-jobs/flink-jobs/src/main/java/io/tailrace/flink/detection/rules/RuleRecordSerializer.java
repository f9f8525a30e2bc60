package io.tailrace.flink.detection.rules;

import io.tailrace.detect.RuleRecord;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes the bytes of Flink's serializer of {@link RuleRecord}, and is the same serializer in checkpoints. Eight
 * operators store a bundle of half a million characters in each checkpoint. Flink writes a text character by character,
 * which took 40 % of the CPU time of an idle job; this serializer keeps the bytes of the last record.
 */
final class RuleRecordSerializer extends TypeSerializer<RuleRecord> {

    private static final long serialVersionUID = 1;

    private record Encoded(RuleRecord rules, byte[] bytes) {}

    /** Operators have equal records, so that they share the bytes; any of them may replace the value. */
    private static final AtomicReference<Encoded> LAST = new AtomicReference<>(encoded(RuleRecord.NO_RULES, flinks()));

    private final TypeSerializer<RuleRecord> flinks;

    RuleRecordSerializer() {
        this(flinks());
    }

    private RuleRecordSerializer(TypeSerializer<RuleRecord> flinks) {
        this.flinks = flinks;
    }

    private static TypeSerializer<RuleRecord> flinks() {
        return TypeInformation.of(RuleRecord.class).createSerializer(new ExecutionConfig().getSerializerConfig());
    }

    @Override
    public void serialize(RuleRecord rules, DataOutputView target) throws IOException {
        Encoded last = LAST.get();
        if (!last.rules().equals(rules)) {
            last = encoded(rules, flinks);
            LAST.set(last);
        }
        target.write(last.bytes());
    }

    private static Encoded encoded(RuleRecord rules, TypeSerializer<RuleRecord> flinks) {
        DataOutputSerializer bytes = new DataOutputSerializer(rules.json().length() + 64);
        try {
            flinks.serialize(rules, bytes);
        } catch (IOException e) {
            throw new IllegalStateException("memory cannot be written", e);
        }
        return new Encoded(rules, bytes.getCopyOfBuffer());
    }

    @Override
    public RuleRecord deserialize(DataInputView source) throws IOException {
        return flinks.deserialize(source);
    }

    @Override
    public RuleRecord deserialize(RuleRecord reuse, DataInputView source) throws IOException {
        return flinks.deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        flinks.copy(source, target);
    }

    @Override
    public RuleRecord copy(RuleRecord from) {
        return from;
    }

    @Override
    public RuleRecord copy(RuleRecord from, RuleRecord reuse) {
        return from;
    }

    @Override
    public RuleRecord createInstance() {
        return RuleRecord.NO_RULES;
    }

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public int getLength() {
        return flinks.getLength();
    }

    @Override
    public TypeSerializer<RuleRecord> duplicate() {
        return new RuleRecordSerializer(flinks.duplicate());
    }

    /** The snapshot of Flink's serializer, so that earlier and later versions read the state. */
    @Override
    public TypeSerializerSnapshot<RuleRecord> snapshotConfiguration() {
        return flinks.snapshotConfiguration();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RuleRecordSerializer that && flinks.equals(that.flinks);
    }

    @Override
    public int hashCode() {
        return flinks.hashCode();
    }
}
