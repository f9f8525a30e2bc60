package io.tailrace.flink.detection.state;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Serializes state with its own read and write methods, beginning with its version.
 *
 * @param <T> the state, which is mutable
 */
public abstract class VersionedStateSerializer<T> extends TypeSerializerSingleton<T> {

    private static final long serialVersionUID = 1;
    private static final int INITIAL_BYTES = 128;

    @Override
    public boolean isImmutableType() {
        return false;
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public T copy(T from) {
        try {
            DataOutputSerializer out = new DataOutputSerializer(INITIAL_BYTES);
            serialize(from, out);
            return deserialize(new DataInputDeserializer(out.getSharedBuffer(), 0, out.length()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public T copy(T from, T reuse) {
        return copy(from);
    }

    @Override
    public T deserialize(T reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        serialize(deserialize(source), target);
    }
}
