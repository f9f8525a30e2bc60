package io.tailrace.plan.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BucketedLatenciesTest {

    private final SplittableRandom random = new SplittableRandom(7);

    @Test
    void theMedianIsWithinABucket() {
        BucketedLatencies latencies = new BucketedLatencies();
        double[] all = new double[999];
        for (int i = 0; i < all.length; i++) {
            all[i] = 0.02 * Math.exp(random.nextGaussian());
            latencies.add(all[i]);
        }
        Arrays.sort(all);
        assertThat(latencies.median() / all[499]).isCloseTo(1, within(0.03));
    }

    @Test
    void ranksAreThoseOfMannAndWhitney() {
        BucketedLatencies own = of(0.001, 0.002, 0.004, 0.008, 0.008);
        BucketedLatencies others = of(0.003, 0.006, 0.008, 0.016);
        // Computed by hand: pairs in which the other is slower are 2 + 3 + (3 + 2/2) + 5 = 14 of 20; the three equal
        // ones are one tie.
        double variance = 20.0 / 12 * (10 - 24.0 / 72);
        assertThat(own.slownessOf(others)).isCloseTo((14 - 10) / Math.sqrt(variance), within(1e-9));
        assertThat(others.slownessOf(own)).isCloseTo(-(14 - 10) / Math.sqrt(variance), within(1e-9));
    }

    @Test
    void equalLatenciesHaveNoDifference() {
        assertThat(of(0.1, 0.1).slownessOf(of(0.1, 0.1, 0.1))).isZero();
        assertThat(new BucketedLatencies().slownessOf(of(0.1))).isZero();
        assertThat(new BucketedLatencies().median()).isNaN();
    }

    @Test
    void theLatestWeighMost() {
        BucketedLatencies latencies = new BucketedLatencies();
        for (int i = 0; i < 4000; i++) {
            latencies.add(0.001);
        }
        for (int i = 0; i < 4000; i++) {
            latencies.add(0.1);
        }
        assertThat(latencies.total()).isLessThanOrEqualTo(BucketedLatencies.MAX_COUNT);
        assertThat(latencies.median()).isCloseTo(0.1, within(0.005));
    }

    private static BucketedLatencies of(double... seconds) {
        BucketedLatencies latencies = new BucketedLatencies();
        Arrays.stream(seconds).forEach(latencies::add);
        return latencies;
    }
}
