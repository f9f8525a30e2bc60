package io.tailrace.flink.idle;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.InputStatus;

/**
 * Reports the first record after a pause at once, and a pause at the first checkpoint without a record before it.
 * Periodic records do not count. A started reader counts as reading.
 */
final class IdleAwareReader<T, S extends SourceSplit> implements SourceReader<T, S> {

    private final SourceReader<T, S> reader;
    private final SourceReaderContext context;
    private final ObservedOutput<T> observed;
    private boolean isReading = true;

    IdleAwareReader(SourceReader<T, S> reader, SourceReaderContext context, PeriodicRecords<T> periodic) {
        this.reader = reader;
        this.context = context;
        observed = new ObservedOutput<>(periodic);
    }

    @Override
    public InputStatus pollNext(ReaderOutput<T> output) throws Exception {
        InputStatus status = reader.pollNext(observed.to(output));
        if (observed.hasRecords()) {
            report(true);
        }
        return status;
    }

    @Override
    public List<S> snapshotState(long checkpointId) {
        report(observed.hasRecords());
        observed.clear();
        return reader.snapshotState(checkpointId);
    }

    private void report(boolean reading) {
        if (isReading != reading) {
            isReading = reading;
            context.sendSourceEventToCoordinator(new ReadingEvent(reading));
        }
    }

    @Override
    public void start() {
        reader.start();
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        return reader.isAvailable();
    }

    @Override
    public void addSplits(List<S> splits) {
        reader.addSplits(splits);
    }

    @Override
    public void notifyNoMoreSplits() {
        reader.notifyNoMoreSplits();
    }

    @Override
    public void handleSourceEvents(SourceEvent event) {
        reader.handleSourceEvents(event);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        reader.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        reader.notifyCheckpointAborted(checkpointId);
    }

    @Override
    public void pauseOrResumeSplits(Collection<String> toPause, Collection<String> toResume) {
        reader.pauseOrResumeSplits(toPause, toResume);
    }

    @Override
    public void close() throws Exception {
        reader.close();
    }
}
