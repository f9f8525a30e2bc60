package io.tailrace.flink.detection.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detect.ByteRangesSerializer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ByteRangeSetTest {

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void entriesInAnyOrderPassOnceAndLeaveOneRange(long seed) {
        Random random = new Random(seed);
        List<Integer> entries = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            entries.add(i);
        }
        Collections.shuffle(entries, random);
        ByteRangeSet ranges = new ByteRangeSet();
        for (int entry : entries) {
            assertThat(ranges.add(entry * 10L, entry * 10L + 10)).isTrue();
            assertThat(ranges.add(entry * 10L, entry * 10L + 10)).isFalse();
        }
        for (int entry : entries) {
            assertThat(ranges.add(entry * 10L, entry * 10L + 10)).isFalse();
        }
        assertThat(ranges.ranges()).isEqualTo(1);
    }

    @Test
    void aHoleIsOneUntilItIsFilled() {
        ByteRangeSet ranges = new ByteRangeSet();
        assertThat(ranges.add(0, 100)).isTrue();
        assertThat(ranges.add(120, 200)).isTrue();
        assertThat(ranges.ranges()).isEqualTo(2);
        assertThat(ranges.add(100, 120)).isTrue();
        assertThat(ranges.ranges()).isEqualTo(1);
        assertThat(ranges.add(150, 160)).isFalse();
        assertThat(ranges.add(200, 210)).isTrue();
    }

    @Test
    void whatNeverCameIsNotTakenForSeenHoweverManyHolesThereAre() throws Exception {
        ByteRangeSet ranges = new ByteRangeSet();
        for (int i = 0; i < 3 * ByteRangeSet.MAX_RANGES; i++) {
            assertThat(ranges.add(i * 10L, i * 10L + 5)).isTrue();
        }
        assertThat(ranges.ranges()).isEqualTo(ByteRangeSet.MAX_RANGES);
        for (int i = 3 * ByteRangeSet.MAX_RANGES - 1; i >= 0; i--) {
            assertThat(ranges.add(i * 10L + 5, i * 10L + 10)).isTrue();
        }
    }

    @Test
    void stateIsWhatItWasAfterItWasWrittenAndRead() throws Exception {
        ByteRangeSet ranges = new ByteRangeSet();
        ranges.add(0, 10);
        ranges.add(20, 30);
        DataOutputSerializer out = new DataOutputSerializer(8);
        ByteRangesSerializer serializer = new ByteRangesSerializer();
        serializer.serialize(ranges, out);
        ByteRangeSet read = serializer.deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
        assertThat(read.add(5, 6)).isFalse();
        assertThat(read.add(20, 30)).isFalse();
        assertThat(read.add(10, 20)).isTrue();
        assertThat(read.ranges()).isEqualTo(1);
    }
}
