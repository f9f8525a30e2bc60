package io.tailrace.testing;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.IntFunction;

/**
 * Compares the CPU time that work takes for one size with that for twice the size. Linear work takes twice as long,
 * quadratic work four times; a slow machine slows down both. CPU time is that of the calling thread.
 */
public final class GrowthRate {

    /** How much longer twice the work may take: as far from linear (2) as from quadratic (4) on a logarithmic scale. */
    private static final double MAX_RATIO = 2.8;

    /**
     * Shorter differences are the JVM's: on a busy machine, code is interpreted until a compiler thread gets its turn.
     * Quadratic work on the sizes of our tests takes seconds.
     */
    private static final long NOISE_NANOS = 20_000_000;

    /** Others share the core and its caches, now more, now less: both are measured again, in turns. */
    private static final int ATTEMPTS = 12;

    /** Of an attempt. The least of each counts. */
    private static final int PAIRS = 3;

    /** Work that is still too slow after so long need not be measured again. */
    private static final long TIMEOUT_NANOS = 20_000_000_000L;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private GrowthRate() {}

    /**
     * Fails if twice the size takes more than about twice the time, for any doubling of {@code from} up to
     * {@code to}: work that is quadratic up to a limit is found too.
     *
     * @param work makes its input for a size, and returns what is to be measured; that may run several times
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

    /** Fails if one takes more than so many times the time of the other. Both may run several times. */
    public static void assertAtMost(String what, double times, Runnable small, Runnable large) {
        assertAtMost(what, times, small, large, ATTEMPTS);
    }

    static void assertAtMost(String what, double times, Runnable small, Runnable large, int attempts) {
        assertLeast(what, times, Math.min(nanos(small), nanos(small)), small, large, attempts);
    }

    /** Returns the least time of the large one. */
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
