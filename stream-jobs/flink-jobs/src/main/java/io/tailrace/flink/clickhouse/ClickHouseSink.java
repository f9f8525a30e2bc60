package io.tailrace.flink.clickhouse;

import java.util.ArrayList;
import java.util.List;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * Writes streams of Avro records into ClickHouse tables, each row exactly once from the latest completed checkpoint
 * on. The target tables and those of their materialized views must have a deduplication window
 * ({@code non_replicated_deduplication_window}) that outlasts the inserts of an outage.
 *
 * <p>Usage: {@link #add} every stream, then {@link #commit} once.
 */
public final class ClickHouseSink {

    /** Inserts that one committer has under way at most: enough to fill a shard, few enough to merge blocks. */
    private static final int PARALLEL_POSTS = 4;

    private final ClickHouseConnection address;
    private final String database;
    private final int committers;
    private final long maxPendingBytes;
    private final String version;
    private final List<DataStream<RowBlock>> blocks = new ArrayList<>();

    /**
     * @param database that holds the tables
     * @param committers parallelism of the inserts, apart from the job's: 1 or 2 per ClickHouse shard, because every
     *     committer makes one part per table and checkpoint
     * @param maxPendingBytes compressed bytes that a committer holds while ClickHouse is away
     */
    public ClickHouseSink(
            ClickHouseConnection address, String database, int committers, long maxPendingBytes, String version) {
        this.address = address;
        this.database = database;
        this.committers = committers;
        this.maxPendingBytes = maxPendingBytes;
        this.version = version;
    }

    /** Encodes a stream's records as rows of a table, in the stream's own tasks. */
    public <T extends SpecificRecord> void add(DataStream<T> rows, String table, Class<T> recordClass, String uid) {
        String name = uid.replace('-', ' ');
        blocks.add(rows.transform(
                        name,
                        TypeInformation.of(RowBlock.class),
                        new RowBlockOperator<>(database + '.' + table, recordClass))
                .uid(uid)
                .setParallelism(rows.getParallelism())
                .rescale());
    }

    /** Adds the committer behind all streams. */
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
