package io.tailrace.clickhouse;

import io.tailrace.clickhouse.InsertOutcome.Refused;
import io.tailrace.clickhouse.InsertOutcome.Unavailable;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.base.sink.writer.AsyncSinkWriter;
import org.apache.flink.connector.base.sink.writer.BufferedRequestState;
import org.apache.flink.connector.base.sink.writer.ElementConverter;
import org.apache.flink.connector.base.sink.writer.ResultHandler;
import org.apache.flink.connector.base.sink.writer.config.AsyncSinkWriterConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Inserts rows as they come. A store that is away is tried again without end, with a delay that grows to
 * {@value #LONGEST_DELAY_MS} ms. Rows whose data ClickHouse refuses are counted and left out: they would be refused for
 * ever, and the topic has them.
 *
 * @param <T> the record that is one row
 */
final class AtOnceWriter<T> extends AsyncSinkWriter<T, EncodedRow> {

    private static final Logger LOG = LoggerFactory.getLogger(AtOnceWriter.class);
    private static final long FIRST_DELAY_MS = 100;
    private static final long LONGEST_DELAY_MS = 5000;
    private static final long MOST_BYTES = 16 << 20;

    private final BlockStore store;
    private final String layout;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread made = new Thread(task, "clickhouse-at-once");
        made.setDaemon(true);
        return made;
    });
    private final org.apache.flink.metrics.Counter refused;
    private volatile long delayMillis = FIRST_DELAY_MS;

    /** @param layout a {@link RowLayout#text()} */
    AtOnceWriter(
            ElementConverter<T, EncodedRow> converter,
            WriterInitContext context,
            Collection<BufferedRequestState<EncodedRow>> waiting,
            BlockStore store,
            String layout) {
        super(converter, context, settings(), waiting);
        this.store = store;
        this.layout = layout;
        this.refused = context.metricGroup().counter("refused-rows");
    }

    private static AsyncSinkWriterConfiguration settings() {
        return AsyncSinkWriterConfiguration.builder()
                .setMaxBatchSize(AtOnceSink.MOST_ROWS)
                .setMaxBatchSizeInBytes(MOST_BYTES)
                .setMaxInFlightRequests(1)
                .setMaxBufferedRequests(20 * AtOnceSink.MOST_ROWS)
                .setMaxTimeInBufferMS(50)
                .setMaxRecordSizeInBytes(MOST_BYTES)
                .setRateLimitingStrategy(new OneInsertAtATime(AtOnceSink.MOST_ROWS))
                .build();
    }

    @Override
    protected long getSizeInBytes(EncodedRow row) {
        return row.bytes().length;
    }

    @Override
    protected void submitRequestEntries(List<EncodedRow> rows, ResultHandler<EncodedRow> result) {
        thread.execute(() -> insert(rows, result));
    }

    private void insert(List<EncodedRow> rows, ResultHandler<EncodedRow> result) {
        try {
            InsertOutcome outcome = store.insert(block(rows));
            if (outcome instanceof Unavailable unavailable) {
                tryLater(rows, result, unavailable.reason());
                return;
            }
            if (outcome instanceof Refused refusal) {
                refused.inc(rows.size());
                LOG.error("{} rows are left out: {}", rows.size(), refusal.reason());
            }
            delayMillis = FIRST_DELAY_MS;
            result.complete();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException bug) {
            result.completeExceptionally(bug);
        }
    }

    private PendingBlock block(List<EncodedRow> rows) {
        OpenBlock block = new OpenBlock(layout);
        rows.forEach(row -> block.add(new RowBlock(layout, 0, 1, row.bytes())));
        return block.seal();
    }

    /** The rows go back to where a checkpoint sees them; the delay keeps the writer from trying all the time. */
    private void tryLater(List<EncodedRow> rows, ResultHandler<EncodedRow> result, String reason) {
        LOG.warn("{} rows wait, nothing is lost, trying again: {}", rows.size(), reason);
        thread.schedule(() -> result.retryForEntries(rows), delayMillis, TimeUnit.MILLISECONDS);
        delayMillis = Math.min(delayMillis * 2, LONGEST_DELAY_MS);
    }

    @Override
    public void close() {
        thread.shutdownNow();
        super.close();
    }
}
