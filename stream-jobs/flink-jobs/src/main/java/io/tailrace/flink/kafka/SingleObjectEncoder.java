package io.tailrace.flink.kafka;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;

/**
 * Encodes records in Avro's single-object encoding: two marker bytes, the schema's fingerprint, the record. Not
 * thread-safe.
 *
 * <p>Avro's own {@code BinaryMessageEncoder} writes the same bytes through an encoder without a buffer, which takes
 * several times as long.
 *
 * @param <T> the record
 */
public final class SingleObjectEncoder<T extends SpecificRecord> {

    private static final short SINGLE_OBJECT = (short) 0xC301;

    private final byte[] header;
    private final DatumWriter<T> writer;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);

    public SingleObjectEncoder(Class<T> recordClass) {
        Schema schema = SpecificData.get().getSchema(recordClass);
        header = header(schema);
        writer = SpecificData.getForClass(recordClass).createDatumWriter(schema);
    }

    private static byte[] header(Schema schema) {
        return ByteBuffer.allocate(Short.BYTES + Long.BYTES)
                .putShort(SINGLE_OBJECT)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(SchemaNormalization.parsingFingerprint64(schema))
                .array();
    }

    public byte[] encode(T record) {
        try {
            bytes.reset();
            bytes.writeBytes(header);
            writer.write(record, encoder);
            encoder.flush();
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
