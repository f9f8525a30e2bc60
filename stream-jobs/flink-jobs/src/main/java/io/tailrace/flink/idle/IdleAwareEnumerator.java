package io.tailrace.flink.idle;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;

/** Knows which readers of a source are reading, and tells it to {@link IdleSources}. */
final class IdleAwareEnumerator<S extends SourceSplit, E> implements SplitEnumerator<S, E> {

    private final SplitEnumerator<S, E> enumerator;
    private final SplitEnumeratorContext<S> context;
    private final IdleSources sources;
    private final Set<Integer> reading = new HashSet<>();

    IdleAwareEnumerator(SplitEnumerator<S, E> enumerator, SplitEnumeratorContext<S> context, IdleSources sources) {
        this.enumerator = enumerator;
        this.context = context;
        this.sources = sources;
    }

    @Override
    public void start() {
        sources.set(context, true);
        enumerator.start();
    }

    /** A reader that was started again has no longer the state that it reported. */
    @Override
    public void addReader(int subtask) {
        set(subtask, true);
        enumerator.addReader(subtask);
    }

    @Override
    public void handleSourceEvent(int subtask, SourceEvent event) {
        if (event instanceof ReadingEvent change) {
            set(subtask, change.isReading());
        } else {
            enumerator.handleSourceEvent(subtask, event);
        }
    }

    private void set(int subtask, boolean isReading) {
        if (isReading) {
            reading.add(subtask);
        } else {
            reading.remove(subtask);
        }
        sources.set(context, !reading.isEmpty());
    }

    @Override
    public void handleSplitRequest(int subtask, String host) {
        enumerator.handleSplitRequest(subtask, host);
    }

    @Override
    public void addSplitsBack(List<S> splits, int subtask) {
        enumerator.addSplitsBack(splits, subtask);
    }

    @Override
    public E snapshotState(long checkpointId) throws Exception {
        return enumerator.snapshotState(checkpointId);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
        enumerator.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        enumerator.notifyCheckpointAborted(checkpointId);
    }

    @Override
    public void close() throws IOException {
        sources.remove(context);
        enumerator.close();
    }
}
