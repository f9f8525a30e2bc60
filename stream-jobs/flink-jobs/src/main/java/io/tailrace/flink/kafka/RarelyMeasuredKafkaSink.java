package io.tailrace.flink.kafka;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * A {@link KafkaSink} that delivers at least once, and whose writers update their metric of sent bytes every ten seconds.
 * Without it each writer has a timer of half a second, for which two threads wake up: in an idle normalize job these were
 * a tenth of its CPU time. Its state is that of the other sink.
 *
 * @param <T> records
 */
public final class RarelyMeasuredKafkaSink<T>
        implements Sink<T>, SupportsWriterState<T, KafkaWriterState>, SupportsCommitter<KafkaCommittable> {

    private static final long serialVersionUID = 1;

    private final KafkaSink<T> sink;

    /** @param sink does not use transactions, whose writers would need more of {@link KafkaSink} */
    public RarelyMeasuredKafkaSink(KafkaSink<T> sink) {
        this.sink = sink;
    }

    @Override
    public StatefulSinkWriter<T, KafkaWriterState> createWriter(WriterInitContext context) throws IOException {
        return sink.createWriter(new RareTimersContext(context));
    }

    @Override
    public StatefulSinkWriter<T, KafkaWriterState> restoreWriter(
            WriterInitContext context, Collection<KafkaWriterState> state) throws IOException {
        return sink.restoreWriter(new RareTimersContext(context), state);
    }

    @Override
    public SimpleVersionedSerializer<KafkaWriterState> getWriterStateSerializer() {
        return sink.getWriterStateSerializer();
    }

    @Override
    public Committer<KafkaCommittable> createCommitter(CommitterInitContext context) throws IOException {
        return sink.createCommitter(context);
    }

    @Override
    public SimpleVersionedSerializer<KafkaCommittable> getCommittableSerializer() {
        return sink.getCommittableSerializer();
    }
}
