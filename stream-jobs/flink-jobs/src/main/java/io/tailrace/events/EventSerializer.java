package io.tailrace.events;

import io.tailrace.reassembly.LogId;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Publishes events in Avro's single-object encoding: two marker bytes, the schema's fingerprint, the record. The key
 * is that of the event's log, so that the events of a log stay in order.
 *
 * <p>Avro's own {@code BinaryMessageEncoder} writes the same bytes through an encoder without a buffer, which takes
 * several times as long.
 *
 * @param <T> a record with the fields instance, source and log
 */
public final class EventSerializer<T extends SpecificRecord> implements KafkaRecordSerializationSchema<T> {

    private static final long serialVersionUID = 2;
    private static final short SINGLE_OBJECT = (short) 0xC301;

    private final String topic;
    private final Class<T> recordClass;
    private transient byte[] header;
    private transient DatumWriter<T> writer;
    private transient ByteArrayOutputStream bytes;
    private transient BinaryEncoder encoder;
    private transient int instanceField;
    private transient int sourceField;
    private transient int logField;

    public EventSerializer(String topic, Class<T> recordClass) {
        this.topic = topic;
        this.recordClass = recordClass;
    }

    @Override
    public ProducerRecord<byte[], byte[]> serialize(T event, KafkaSinkContext context, Long timestamp) {
        if (encoder == null) {
            prepare();
        }
        return new ProducerRecord<>(topic, key(event), value(event));
    }

    private void prepare() {
        Schema schema = SpecificData.get().getSchema(recordClass);
        instanceField = schema.getField("instance").pos();
        sourceField = schema.getField("source").pos();
        logField = schema.getField("log").pos();
        header = header(schema);
        writer = SpecificData.getForClass(recordClass).createDatumWriter(schema);
        bytes = new ByteArrayOutputStream();
        encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    }

    private byte[] key(T event) {
        LogId log = new LogId(
                event.get(instanceField).toString(),
                event.get(sourceField).toString(),
                event.get(logField).toString());
        return log.toKey().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] header(Schema schema) {
        return ByteBuffer.allocate(Short.BYTES + Long.BYTES)
                .putShort(SINGLE_OBJECT)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(SchemaNormalization.parsingFingerprint64(schema))
                .array();
    }

    private byte[] value(T event) {
        try {
            bytes.reset();
            bytes.writeBytes(header);
            writer.write(event, encoder);
            encoder.flush();
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
