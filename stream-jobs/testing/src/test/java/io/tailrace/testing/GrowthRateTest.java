package io.tailrace.testing;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class GrowthRateTest {

    /** Its square is so many steps that their time is well above what {@link GrowthRate} regards as noise. */
    private static final int QUADRATIC = 6 << 10;

    private static final int LIMIT = 2 * QUADRATIC;
    /** Number of attempts for work that must fail; further ones would only take longer. */
    private static final int ATTEMPTS = 1;

    private long sum;

    @Test
    void linearWorkPasses() {
        assertThatCode(() -> GrowthRate.assertLinear("sum", 1 << 12, 1 << 15, sized(size -> 5_000L * size)))
                .doesNotThrowAnyException();
    }

    @Test
    void workThatSortsPasses() {
        assertThatCode(() -> GrowthRate.assertLinear(
                        "sort", 1 << 12, 1 << 15, sized(size -> (long) (500 * size * Math.log(size)))))
                .doesNotThrowAnyException();
    }

    @Test
    void quadraticWorkFails() {
        assertThatThrownBy(() -> GrowthRate.assertLinear(
                        "pairs", QUADRATIC, 4 * QUADRATIC, sized(size -> (long) size * size), ATTEMPTS))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("pairs");
    }

    /** Resembles a search that looks back by a limited distance. */
    @Test
    void workThatIsQuadraticUpToALimitFails() {
        assertThatThrownBy(() -> GrowthRate.assertLinear(
                        "looks back",
                        QUADRATIC,
                        8 * QUADRATIC,
                        sized(size -> (long) size * Math.min(size, LIMIT)),
                        ATTEMPTS))
                .isInstanceOf(AssertionError.class);
    }

    @Test
    void workThatIsTooSlowFails() {
        assertThatThrownBy(() -> GrowthRate.assertAtMost(
                        "ten times", 3, () -> spend(10_000_000), () -> spend(100_000_000), ATTEMPTS))
                .isInstanceOf(AssertionError.class);
    }

    private IntFunction<Runnable> sized(IntToLongFunction steps) {
        return size -> () -> spend(steps.applyAsLong(size));
    }

    private void spend(long steps) {
        long result = sum;
        for (long i = 0; i < steps; i++) {
            result = result * 31 + i;
        }
        sum = result;
    }
}
