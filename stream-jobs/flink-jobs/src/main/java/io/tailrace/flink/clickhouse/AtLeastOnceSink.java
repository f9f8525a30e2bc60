package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.io.IOException;
import java.time.Clock;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Writes records as rows of one table within a tenth of a second, at least once: rows that are not stored yet are part
 * of each checkpoint. For tables that are partitioned by month, and in which a repeated row replaces the first.
 *
 * @param <T> the record that is one row
 */
public final class AtLeastOnceSink<T extends SpecificRecord> implements Sink<T>, SupportsWriterState<T, PendingBlock> {

    private static final long serialVersionUID = 1;
    /** Maximum of compressed bytes in one subtask: more than a hundred thousand alerts or data access records. */
    private static final long MAX_WAITING_BYTES = 8 << 20;

    private final InsertTarget.Factory store;
    private final String database;
    private final String table;
    private final Class<T> recordClass;
    private final String version;
    /** Null: names are stored as they are. */
    private final PseudonymKeys pseudonyms;

    /** @param version version of Tailrace, for dead letters of rows that ClickHouse refuses */
    public AtLeastOnceSink(
            ClickHouseConnection address, String database, String table, Class<T> recordClass, String version) {
        this(address, database, table, recordClass, version, Optional.empty());
    }

    /**
     * @param version version of Tailrace, for dead letters of rows that ClickHouse refuses
     * @param pseudonyms keys of the pseudonyms that replace names; empty: names are stored as they are
     */
    public AtLeastOnceSink(
            ClickHouseConnection address,
            String database,
            String table,
            Class<T> recordClass,
            String version,
            Optional<PseudonymKeys> pseudonyms) {
        this(() -> new ClickHouseHttpClient(address), database, table, recordClass, version, pseudonyms);
    }

    AtLeastOnceSink(InsertTarget.Factory store, String database, String table, Class<T> recordClass, String version) {
        this(store, database, table, recordClass, version, Optional.empty());
    }

    AtLeastOnceSink(
            InsertTarget.Factory store,
            String database,
            String table,
            Class<T> recordClass,
            String version,
            Optional<PseudonymKeys> pseudonyms) {
        this.store = store;
        this.database = database;
        this.table = table;
        this.recordClass = recordClass;
        this.version = version;
        this.pseudonyms = pseudonyms.orElse(null);
    }

    private RowBinaryEncoder encoder(RowBinaryEncoder.Replacement replacement) {
        return RowBinaryEncoder.atOnce(
                database + '.' + table, SpecificData.get().getSchema(recordClass), replacement);
    }

    @Override
    public StatefulSinkWriter<T, PendingBlock> createWriter(WriterInitContext context) throws IOException {
        return restoreWriter(context, List.of());
    }

    @Override
    public StatefulSinkWriter<T, PendingBlock> restoreWriter(
            WriterInitContext context, Collection<PendingBlock> waiting) throws IOException {
        RefusedBlockSplitter refused =
                new RefusedBlockSplitter(new RefusedRowConverter(database, Clock.systemUTC(), version));
        Optional<SubjectNames> names =
                SubjectNames.of(database + '.' + table, Optional.ofNullable(pseudonyms), Clock.systemUTC());
        return new AtLeastOnceWriter<>(
                encoder(SubjectNames.replacement(names)),
                names,
                store.create(),
                refused,
                waiting,
                MAX_WAITING_BYTES,
                context);
    }

    @Override
    public SimpleVersionedSerializer<PendingBlock> getWriterStateSerializer() {
        return new PendingBlockSerializer(
                encoder(RowBinaryEncoder.UNCHANGED).layout().text());
    }
}
