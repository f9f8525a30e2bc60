package io.tailrace.clickhouse;

import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.connector.base.sink.writer.ElementConverter;

/**
 * Encodes records as rows.
 *
 * @param <T> the record that is one row
 */
final class RowConverter<T extends SpecificRecord> implements ElementConverter<T, EncodedRow> {

    private static final long serialVersionUID = 1;
    private static final int USUAL_BYTES = 1024;

    private final String table;
    private final Class<T> recordClass;
    private transient RowEncoder encoder;

    RowConverter(String table, Class<T> recordClass) {
        this.table = table;
        this.recordClass = recordClass;
    }

    @Override
    public EncodedRow apply(T row, SinkWriter.Context context) {
        if (encoder == null) {
            encoder = AtOnceSink.encoder(table, recordClass);
        }
        RowBuffer out = new RowBuffer(USUAL_BYTES);
        encoder.encode(row, out);
        return new EncodedRow(out.toByteArray());
    }
}
