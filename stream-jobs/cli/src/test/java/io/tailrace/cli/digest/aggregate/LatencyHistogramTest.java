package io.tailrace.cli.digest.aggregate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.data.Percentage.withPercentage;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LatencyHistogramTest {

    @Test
    void quantilesAreWithinOnePercent() {
        Random random = new Random(2);
        double[] values = new double[10_000];
        LatencyHistogram buckets = new LatencyHistogram(1e-6);
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.rint(Math.exp(random.nextGaussian() * 4) * 1e6) / 1e6;
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
        LatencyHistogram buckets = new LatencyHistogram(1e-6);
        buckets.add(0, 90);
        buckets.add(5, 10);
        assertThat(buckets.quantile(0.9)).isZero();
        assertThat(buckets.quantile(0.95)).isCloseTo(5, withPercentage(1));
        assertThat(buckets.sum()).isEqualTo(50);
        assertThat(buckets.average()).isEqualTo(0.5);
    }

    /** With weights as of Log_slow_rate_limit, and distributions as of statements. */
    @Test
    void weightedQuantilesAreWithinOnePercentOfExactOnes() {
        Random random = new Random(3);
        for (int round = 0; round < 60; round++) {
            int shape = round % 3;
            int size = 1 + random.nextInt(3_000);
            double[][] weighted = new double[size][];
            LatencyHistogram buckets = new LatencyHistogram(1e-6);
            for (int i = 0; i < size; i++) {
                double value = value(shape, random);
                weighted[i] = new double[] {value, 1 + random.nextInt(200)};
                buckets.add(value, weighted[i][1]);
            }
            Arrays.sort(weighted, Comparator.comparingDouble(pair -> pair[0]));
            for (double part : new double[] {0.001, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1}) {
                double exact = exactQuantile(weighted, part * buckets.weight());
                assertThat(buckets.quantile(part)).isCloseTo(exact, within(exact * 0.01));
            }
        }
    }

    /** Returns microseconds as seconds: long-tailed, with two humps, or few and small. */
    private static double value(int shape, Random random) {
        double micros =
                switch (shape) {
                    case 0 -> Math.exp(random.nextGaussian() * 3 + 6);
                    case 1 -> random.nextBoolean() ? 200 + random.nextInt(50) : 2e6 + random.nextInt(1_000_000);
                    default -> random.nextInt(60);
                };
        return Math.rint(micros) / 1e6;
    }

    private static double exactQuantile(double[][] weighted, double wanted) {
        double seen = 0;
        for (double[] pair : weighted) {
            seen += pair[1];
            if (seen >= wanted) {
                return pair[0];
            }
        }
        return weighted[weighted.length - 1][0];
    }

    @Test
    void smallMultiplesOfTheUnitAreExact() {
        for (int micros = 1; micros < 49; micros++) {
            LatencyHistogram buckets = new LatencyHistogram(1e-6);
            buckets.add(micros / 1e6, 2);
            buckets.add(1e-6, 1);
            buckets.add(1, 1);
            assertThat(buckets.quantile(0.6)).isCloseTo(micros / 1e6, within(1e-12));
        }
    }

    @Test
    void partsAddUpToTheWhole() {
        Random random = new Random(4);
        LatencyHistogram whole = new LatencyHistogram(1);
        LatencyHistogram sum = new LatencyHistogram(1);
        for (int part = 0; part < 5; part++) {
            LatencyHistogram buckets = new LatencyHistogram(1);
            for (int i = 0; i < 500; i++) {
                int value = random.nextInt(10_000);
                buckets.add(value, 2);
                whole.add(value, 2);
            }
            sum.addAll(buckets);
        }
        assertThat(sum.sum()).isEqualTo(whole.sum());
        assertThat(sum.largest()).isEqualTo(whole.largest());
        for (double part = 0; part <= 1; part += 0.1) {
            assertThat(sum.quantile(part)).isEqualTo(whole.quantile(part));
        }
    }

    @Test
    void nothingIsNothing() {
        LatencyHistogram buckets = new LatencyHistogram(1e-6);
        assertThat(buckets.quantile(0.5)).isZero();
        assertThat(buckets.smallest()).isZero();
        assertThat(buckets.average()).isZero();
    }
}
