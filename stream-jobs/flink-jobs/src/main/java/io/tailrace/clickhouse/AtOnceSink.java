package io.tailrace.clickhouse;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.base.sink.AsyncSinkBase;
import org.apache.flink.connector.base.sink.writer.AsyncSinkWriterStateSerializer;
import org.apache.flink.connector.base.sink.writer.BufferedRequestState;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Writes records as rows of one table within a tenth of a second, at least once: what is not stored yet is part of each
 * checkpoint. For tables in which a row that comes again replaces the first.
 *
 * @param <T> the record that is one row
 */
public final class AtOnceSink<T extends SpecificRecord> extends AsyncSinkBase<T, EncodedRow> {

    private static final long serialVersionUID = 1;
    static final int MOST_ROWS = 1_000;
    private static final int MOST_WAITING_ROWS = 20_000;
    private static final long MOST_BYTES = 16 << 20;
    private static final long MOST_MILLIS = 50;

    private final ClickHouseAddress address;
    private final String table;
    private final Class<T> recordClass;

    /** @param table with its database, such as {@code tailrace.alerts} */
    public AtOnceSink(ClickHouseAddress address, String table, Class<T> recordClass) {
        super(
                new RowConverter<>(table, recordClass),
                MOST_ROWS,
                1,
                MOST_WAITING_ROWS,
                MOST_BYTES,
                MOST_MILLIS,
                MOST_BYTES);
        this.address = address;
        this.table = table;
        this.recordClass = recordClass;
    }

    static <T extends SpecificRecord> RowEncoder encoder(String table, Class<T> recordClass) {
        return RowEncoder.atOnce(table, SpecificData.get().getSchema(recordClass));
    }

    @Override
    public StatefulSinkWriter<T, BufferedRequestState<EncodedRow>> createWriter(WriterInitContext context) {
        return restoreWriter(context, List.of());
    }

    @Override
    public StatefulSinkWriter<T, BufferedRequestState<EncodedRow>> restoreWriter(
            WriterInitContext context, Collection<BufferedRequestState<EncodedRow>> waiting) {
        String layout = encoder(table, recordClass).layout().text();
        return new AtOnceWriter<>(getElementConverter(), context, waiting, new ClickHouseStore(address), layout);
    }

    @Override
    public SimpleVersionedSerializer<BufferedRequestState<EncodedRow>> getWriterStateSerializer() {
        return new WaitingRowsSerializer();
    }

    /** Rows in a checkpoint. */
    private static final class WaitingRowsSerializer extends AsyncSinkWriterStateSerializer<EncodedRow> {

        @Override
        protected void serializeRequestToStream(EncodedRow row, DataOutputStream out) throws IOException {
            out.write(row.bytes());
        }

        @Override
        protected EncodedRow deserializeRequestFromStream(long size, DataInputStream in) throws IOException {
            byte[] bytes = new byte[Math.toIntExact(size)];
            in.readFully(bytes);
            return new EncodedRow(bytes);
        }

        @Override
        public int getVersion() {
            return 1;
        }
    }
}
