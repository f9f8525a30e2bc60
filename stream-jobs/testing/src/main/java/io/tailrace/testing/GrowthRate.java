package io.tailrace.testing;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.IntFunction;

/**
 * Compares the CPU time of work on one size with that on twice the size. Linear work takes twice as long, quadratic
 * work four times; a slow machine slows down both. Only the CPU time of the calling thread counts.
 */
public final class GrowthRate {

    /** Maximum ratio of the times: the geometric mean of linear (2) and quadratic (4). */
    private static final double MAX_RATIO = 2.8;

    /**
     * Shorter differences are noise of the JVM: on a busy machine, code is interpreted until a compiler thread runs.
     * Quadratic work on the sizes of these tests takes seconds.
     */
    private static final long NOISE_NANOS = 20_000_000;

    /**
     * Other processes share the core and its caches to a varying degree, so both are measured repeatedly and
     * alternately.
     */
    private static final int ATTEMPTS = 12;

    /** Pairs of measurements per attempt. The shortest time of each size counts. */
    private static final int PAIRS = 3;

    /** Time after which work that is still too slow is not measured again. */
    private static final long TIMEOUT_NANOS = 20_000_000_000L;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private GrowthRate() {}

    /**
     * Fails if twice the size takes more than about twice the time, for any doubling from {@code from} up to {@code
     * to}. This also detects work that is quadratic only up to a limit.
     *
     * @param work creates its input for a size, and returns the work to be measured, which may run several times
     */
    public static void assertLinear(String what, int from, int to, IntFunction<Runnable> work) {
        assertLinear(what, from, to, work, ATTEMPTS);
    }

    static void assertLinear(String what, int from, int to, IntFunction<Runnable> work, int attempts) {
        Runnable small = work.apply(from);
        long ofSmall = Math.min(nanos(small), nanos(small));
        for (int size = from; size <= to / 2; size *= 2) {
            Runnable large = work.apply(2 * size);
            ofSmall = assertLeast(what + ", " + size + " and " + 2 * size, MAX_RATIO, ofSmall, small, large, attempts);
            small = large;
        }
    }

    /** Fails if one takes more than {@code times} times the time of the other. Both may run several times. */
    public static void assertAtMost(String what, double times, Runnable small, Runnable large) {
        assertAtMost(what, times, small, large, ATTEMPTS);
    }

    static void assertAtMost(String what, double times, Runnable small, Runnable large, int attempts) {
        assertLeast(what, times, Math.min(nanos(small), nanos(small)), small, large, attempts);
    }

    /** Returns the shortest time of the large one. */
    private static long assertLeast(
            String what, double times, long firstOfSmall, Runnable small, Runnable large, int attempts) {
        long ofSmall = firstOfSmall;
        long ofLarge = nanos(large);
        long begin = THREADS.getCurrentThreadCpuTime();
        for (int attempt = 0; isTooLong(times, ofSmall, ofLarge); attempt++) {
            if (attempt == attempts || THREADS.getCurrentThreadCpuTime() - begin > TIMEOUT_NANOS) {
                throw new AssertionError("%s: expected at most %.1f times the CPU time, took %.1f ms and %.1f ms"
                        .formatted(what, times, ofSmall / 1e6, ofLarge / 1e6));
            }
            ofSmall = Long.MAX_VALUE;
            ofLarge = Long.MAX_VALUE;
            for (int i = 0; i < PAIRS; i++) {
                ofSmall = Math.min(ofSmall, nanos(small));
                ofLarge = Math.min(ofLarge, nanos(large));
            }
        }
        return ofLarge;
    }

    private static boolean isTooLong(double times, long ofSmall, long ofLarge) {
        return ofLarge > times * ofSmall + NOISE_NANOS;
    }

    private static long nanos(Runnable work) {
        long before = THREADS.getCurrentThreadCpuTime();
        work.run();
        return THREADS.getCurrentThreadCpuTime() - before;
    }
}
