package io.tailrace.flink.detection.correlation;

import io.tailrace.detect.Evidence;
import io.tailrace.detection.alert.AlertContext;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.types.StringValue;

/**
 * Serializes evidence on its way between operators. Flink's serializer for records reads each component by reflection,
 * and detectors send evidence for most events. State does not use it: {@link EvidenceTypes#STORED}.
 */
public final class EvidenceSerializer extends TypeSerializerSingleton<Evidence> {

    static final EvidenceSerializer INSTANCE = new EvidenceSerializer();

    private static final long serialVersionUID = 1;
    /** Follows a name that is not one of {@link AlertContext#FIELDS}. */
    private static final int OTHER_NAME = 255;

    private static final int LATE = 1;
    private static final int ONE_ID = 2;

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public Evidence createInstance() {
        return new Evidence(0, 0, "", List.of(), "", "", "", 0, 0, List.of(), 0, "", false, Map.of());
    }

    @Override
    public Evidence copy(Evidence from) {
        return from;
    }

    @Override
    public Evidence copy(Evidence from, Evidence reuse) {
        return from;
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public void serialize(Evidence evidence, DataOutputView out) throws IOException {
        boolean oneId = evidence.actionId().equals(evidence.eventId());
        out.writeByte((evidence.late() ? LATE : 0) | (oneId ? ONE_ID : 0));
        out.writeLong(evidence.push());
        out.writeInt(evidence.level());
        StringValue.writeString(evidence.consumer(), out);
        write(evidence.group(), out);
        StringValue.writeString(evidence.rule(), out);
        StringValue.writeString(evidence.eventId(), out);
        if (!oneId) {
            StringValue.writeString(evidence.actionId(), out);
        }
        out.writeLong(evidence.micros());
        out.writeLong(evidence.order());
        write(evidence.values(), out);
        out.writeDouble(evidence.amount());
        StringValue.writeString(evidence.statement(), out);
        write(evidence.about(), out);
    }

    private static void write(List<String> texts, DataOutputView out) throws IOException {
        out.writeInt(texts.size());
        for (int i = 0; i < texts.size(); i++) {
            StringValue.writeString(texts.get(i), out);
        }
    }

    private static void write(Map<String, String> about, DataOutputView out) throws IOException {
        out.writeInt(about.size());
        for (Map.Entry<String, String> field : about.entrySet()) {
            int known = AlertContext.FIELDS.indexOf(field.getKey());
            out.writeByte(known < 0 ? OTHER_NAME : known);
            if (known < 0) {
                StringValue.writeString(field.getKey(), out);
            }
            StringValue.writeString(field.getValue(), out);
        }
    }

    @Override
    public Evidence deserialize(DataInputView in) throws IOException {
        byte flags = in.readByte();
        long push = in.readLong();
        int level = in.readInt();
        String consumer = StringValue.readString(in);
        List<String> group = texts(in);
        String rule = StringValue.readString(in);
        String eventId = StringValue.readString(in);
        String actionId = (flags & ONE_ID) != 0 ? eventId : StringValue.readString(in);
        return new Evidence(
                push,
                level,
                consumer,
                group,
                rule,
                eventId,
                actionId,
                in.readLong(),
                in.readLong(),
                texts(in),
                in.readDouble(),
                StringValue.readString(in),
                (flags & LATE) != 0,
                about(in));
    }

    private static List<String> texts(DataInputView in) throws IOException {
        int size = in.readInt();
        List<String> texts = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            texts.add(StringValue.readString(in));
        }
        return texts;
    }

    private static Map<String, String> about(DataInputView in) throws IOException {
        int size = in.readInt();
        Map<String, String> about = new HashMap<>();
        for (int i = 0; i < size; i++) {
            int known = in.readUnsignedByte();
            String name = known == OTHER_NAME ? StringValue.readString(in) : AlertContext.FIELDS.get(known);
            about.put(name, StringValue.readString(in));
        }
        return about;
    }

    @Override
    public Evidence deserialize(Evidence reuse, DataInputView in) throws IOException {
        return deserialize(in);
    }

    @Override
    public void copy(DataInputView in, DataOutputView out) throws IOException {
        serialize(deserialize(in), out);
    }

    @Override
    public TypeSerializerSnapshot<Evidence> snapshotConfiguration() {
        return new Snapshot();
    }

    /** Flink requires it; no checkpoint contains it. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<Evidence> {
        public Snapshot() {
            super(() -> INSTANCE);
        }
    }
}
