package io.tailrace.flink.idle;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;

/**
 * Passes records on, and remembers whether one of them was not periodic. Flink's base class of readers keeps the outputs
 * of splits, so that the reader has only this output.
 */
final class ObservedOutput<T> implements ReaderOutput<T> {

    private final PeriodicRecords<T> periodic;
    private ReaderOutput<T> output;
    private boolean hasRecords;

    ObservedOutput(PeriodicRecords<T> periodic) {
        this.periodic = periodic;
    }

    ObservedOutput<T> to(ReaderOutput<T> next) {
        output = next;
        return this;
    }

    /** Returns whether a record that is not periodic was emitted since {@link #clear}. */
    boolean hasRecords() {
        return hasRecords;
    }

    void clear() {
        hasRecords = false;
    }

    /** After the first such record, the next ones need no test. */
    private T observed(T record) {
        hasRecords = hasRecords || !periodic.contain(record);
        return record;
    }

    @Override
    public void collect(T record) {
        output.collect(observed(record));
    }

    @Override
    public void collect(T record, long timestamp) {
        output.collect(observed(record), timestamp);
    }

    @Override
    public void emitWatermark(Watermark watermark) {
        output.emitWatermark(watermark);
    }

    @Override
    public void markIdle() {
        output.markIdle();
    }

    @Override
    public void markActive() {
        output.markActive();
    }

    @Override
    public SourceOutput<T> createOutputForSplit(String split) {
        return new OfSplit(output.createOutputForSplit(split));
    }

    @Override
    public void releaseOutputForSplit(String split) {
        output.releaseOutputForSplit(split);
    }

    private final class OfSplit implements SourceOutput<T> {

        private final SourceOutput<T> split;

        private OfSplit(SourceOutput<T> split) {
            this.split = split;
        }

        @Override
        public void collect(T record) {
            split.collect(observed(record));
        }

        @Override
        public void collect(T record, long timestamp) {
            split.collect(observed(record), timestamp);
        }

        @Override
        public void emitWatermark(Watermark watermark) {
            split.emitWatermark(watermark);
        }

        @Override
        public void markIdle() {
            split.markIdle();
        }

        @Override
        public void markActive() {
            split.markActive();
        }
    }
}
