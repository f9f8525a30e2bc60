package io.tailrace.flink.clickhouse;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * Writes streams of Avro records into ClickHouse tables, each row exactly once from the latest completed checkpoint on.
 * The target tables and those of their materialized views must have a deduplication window ({@code
 * non_replicated_deduplication_window}) that is longer than the inserts of an outage.
 *
 * <p>Usage: {@link #add} every stream, then {@link #commit} once.
 */
public final class ClickHouseSink {

    /** Maximum number of concurrent inserts per committer: enough to use a shard, few enough to merge blocks. */
    private static final int PARALLEL_POSTS = 4;

    private final ClickHouseConnection address;
    private final String database;
    private final int committers;
    private final long maxPendingBytes;
    private final String version;
    /** Null: names are stored as they are. */
    private PseudonymKeys pseudonyms;

    private final List<DataStream<RowBlock>> blocks = new ArrayList<>();

    /**
     * @param database database of the tables
     * @param committers parallelism of the inserts, separate from the job's: 1 or 2 per ClickHouse shard, because every
     *     committer creates one part per table and checkpoint
     * @param maxPendingBytes compressed bytes that a committer holds while ClickHouse is unavailable
     */
    public ClickHouseSink(
            ClickHouseConnection address, String database, int committers, long maxPendingBytes, String version) {
        this.address = address;
        this.database = database;
        this.committers = committers;
        this.maxPendingBytes = maxPendingBytes;
        this.version = version;
    }

    /** Replaces names in the rows of streams that are added afterwards by pseudonyms. */
    public ClickHouseSink withPseudonyms(PseudonymKeys keys) {
        pseudonyms = keys;
        return this;
    }

    /** Encodes the records of a stream as rows of a table, in the tasks of the stream. */
    public <T extends SpecificRecord> void add(DataStream<T> rows, String table, Class<T> recordClass, String uid) {
        String name = uid.replace('-', ' ');
        blocks.add(rows.transform(
                        name,
                        TypeInformation.of(RowBlock.class),
                        new RowBlockOperator<>(database + '.' + table, recordClass, Optional.ofNullable(pseudonyms)))
                .uid(uid)
                .setParallelism(rows.getParallelism())
                .rescale());
    }

    /** Adds the committer after all streams. */
    public void commit() {
        ClickHouseConnection target = address;
        CommitterConfig settings = new CommitterConfig(
                () -> new ClickHouseHttpClient(target), database, PARALLEL_POSTS, maxPendingBytes, version);
        DataStream<RowBlock> all = blocks.get(0);
        for (DataStream<RowBlock> more : blocks.subList(1, blocks.size())) {
            all = all.union(more);
        }
        all.transform("commit to ClickHouse", Types.VOID, new BlockCommitOperatorFactory(settings))
                .uid("clickhouse-commit")
                .setParallelism(committers);
    }
}
