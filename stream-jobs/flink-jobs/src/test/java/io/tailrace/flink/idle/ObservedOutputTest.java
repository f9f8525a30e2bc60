package io.tailrace.flink.idle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.junit.jupiter.api.Test;

final class ObservedOutputTest {

    private final Records records = new Records();
    private final ObservedOutput<String> output = new ObservedOutput<String>("census"::equals).to(records);

    @Test
    void onlyARecordThatIsNotPeriodicCounts() {
        SourceOutput<String> split = output.createOutputForSplit("0");
        split.collect("census");
        split.collect("census", 1);
        output.collect("census");
        assertThat(output.hasRecords()).isFalse();
        split.collect("line", 2);
        split.collect("census", 3);
        assertThat(output.hasRecords()).isTrue();
        output.clear();
        assertThat(output.hasRecords()).isFalse();
        split.collect("line");
        assertThat(output.hasRecords()).isTrue();
        assertThat(records.emitted).containsExactly("census", "census", "census", "line", "census", "line");
    }

    private static final class Records implements ReaderOutput<String> {

        private final List<String> emitted = new ArrayList<>();

        @Override
        public void collect(String record) {
            emitted.add(record);
        }

        @Override
        public void collect(String record, long timestamp) {
            emitted.add(record);
        }

        @Override
        public SourceOutput<String> createOutputForSplit(String split) {
            return this;
        }

        @Override
        public void releaseOutputForSplit(String split) {}

        @Override
        public void emitWatermark(Watermark watermark) {}

        @Override
        public void markIdle() {}

        @Override
        public void markActive() {}
    }
}
