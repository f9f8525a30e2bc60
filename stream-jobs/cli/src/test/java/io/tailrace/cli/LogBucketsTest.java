package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Percentage.withPercentage;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LogBucketsTest {

    @Test
    void quantilesAreWithinOnePercent() {
        Random random = new Random(2);
        double[] values = new double[10_000];
        LogBuckets buckets = new LogBuckets();
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.exp(random.nextGaussian() * 4);
            buckets.add(values[i], 1);
        }
        Arrays.sort(values);
        for (double part : new double[] {0.01, 0.5, 0.95, 0.99}) {
            double exact = values[(int) Math.ceil(part * values.length) - 1];
            assertThat(buckets.quantile(part)).isCloseTo(exact, withPercentage(1));
        }
        assertThat(buckets.largest()).isEqualTo(values[values.length - 1]);
        assertThat(buckets.smallest()).isEqualTo(values[0]);
    }

    @Test
    void zeroHasItsOwnBucketAndWeightsCount() {
        LogBuckets buckets = new LogBuckets();
        buckets.add(0, 90);
        buckets.add(5, 10);
        assertThat(buckets.quantile(0.9)).isZero();
        assertThat(buckets.quantile(0.95)).isCloseTo(5, withPercentage(1));
        assertThat(buckets.sum()).isEqualTo(50);
        assertThat(buckets.average()).isEqualTo(0.5);
    }

    @Test
    void nothingIsNothing() {
        LogBuckets buckets = new LogBuckets();
        assertThat(buckets.quantile(0.5)).isZero();
        assertThat(buckets.smallest()).isZero();
        assertThat(buckets.average()).isZero();
    }
}
