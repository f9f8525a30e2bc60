package io.tailrace.cli.digest.aggregate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ObservedTimeRangeTest {

    private static final long START = 1_795_229_340;
    private static final long IN_2009 = 1_234_567_890;
    private static final long IN_2038 = 2_147_483_647;

    private static TimeHistogram hour(int limit) {
        TimeHistogram slots = new TimeHistogram(limit);
        for (int i = 0; i < 3_600; i++) {
            slots.add(START + i, 1, 0.5);
        }
        return slots;
    }

    @Test
    void outliersOfOtherYearsDoNotExtendTheRange() {
        for (int limit : new int[] {128, 4_096}) {
            TimeHistogram slots = hour(limit);
            slots.add(IN_2009, 1, 1);
            slots.add(IN_2038, 2, 1);
            ObservedTimeRange range = ObservedTimeRange.of(slots);
            assertThat(range.outliers()).isEqualTo(3);
            assertThat(range.from()).isCloseTo(START, within(64L));
            assertThat(range.to()).isCloseTo(START + 3_600, within(64L));
        }
    }

    @Test
    void anIdleYearBetweenTwoBusyHoursIsNoOutlier() {
        TimeHistogram slots = hour(4_096);
        for (int i = 0; i < 200; i++) {
            slots.add(START - 31_536_000 + i, 1, 1);
        }
        assertThat(ObservedTimeRange.of(slots).outliers()).isZero();
        assertThat(ObservedTimeRange.of(slots).from()).isEqualTo(START - 31_536_000);
    }

    @Test
    void columnsHoldAllOfTheRange() {
        for (int limit : new int[] {7, 128, 4_096}) {
            TimeHistogram slots = hour(limit);
            ObservedTimeRange range = ObservedTimeRange.of(slots);
            for (int columns : new int[] {1, 60, 61}) {
                double[] weights = slots.weights(range.from(), range.to(), columns);
                assertThat(Arrays.stream(weights).sum()).isCloseTo(3_600, within(1e-6));
                double[] times = slots.times(range.from(), range.to(), columns);
                assertThat(Arrays.stream(times).sum()).isCloseTo(1_800, within(1e-6));
            }
        }
    }

    @Test
    void nothingHasNoRange() {
        assertThat(ObservedTimeRange.of(new TimeHistogram(4)).length()).isZero();
    }
}
