package io.tailrace.flink.kafka;

import io.tailrace.reassembly.LogId;
import java.nio.charset.StandardCharsets;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Publishes events in Avro's single-object encoding. The key is that of the log, so that the events of a log remain in
 * order.
 *
 * @param <T> a record with the fields instance, source and log
 */
public final class EventSerializationSchema<T extends SpecificRecord> implements KafkaRecordSerializationSchema<T> {

    private static final long serialVersionUID = 3;

    private final String topic;
    private final Class<T> recordClass;
    private transient SingleObjectEncoder<T> encoder;
    private transient int instanceField;
    private transient int sourceField;
    private transient int logField;

    public EventSerializationSchema(String topic, Class<T> recordClass) {
        this.topic = topic;
        this.recordClass = recordClass;
    }

    @Override
    public ProducerRecord<byte[], byte[]> serialize(T event, KafkaSinkContext context, Long timestamp) {
        if (encoder == null) {
            prepare();
        }
        return new ProducerRecord<>(topic, key(event), encoder.encode(event));
    }

    private void prepare() {
        Schema schema = SpecificData.get().getSchema(recordClass);
        instanceField = schema.getField("instance").pos();
        sourceField = schema.getField("source").pos();
        logField = schema.getField("log").pos();
        encoder = new SingleObjectEncoder<>(recordClass);
    }

    private byte[] key(T event) {
        LogId log = new LogId(
                event.get(instanceField).toString(),
                event.get(sourceField).toString(),
                event.get(logField).toString());
        return log.toKey().getBytes(StandardCharsets.UTF_8);
    }
}
