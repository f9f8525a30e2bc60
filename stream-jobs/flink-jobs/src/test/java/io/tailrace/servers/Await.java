package io.tailrace.servers;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for conditions of other processes. */
public final class Await {

    private static final long FIRST_POLL_MILLIS = 20;
    /** Maximum interval of polls: frequent polls would take time from the awaited processes. */
    private static final long LAST_POLL_MILLIS = 250;
    /** A longer wait is printed, as it may be a stall that the limit permits. */
    private static final Duration LONG = Duration.ofSeconds(150);

    private Await() {}

    /** Polls until the condition is true; an exception counts as false. Fails with the name of the condition. */
    public static void until(String what, Duration atMost, Callable<Boolean> condition) throws InterruptedException {
        long began = System.nanoTime();
        long deadline = began + atMost.toNanos();
        Exception last = null;
        long pollMillis = FIRST_POLL_MILLIS;
        while (System.nanoTime() < deadline) {
            try {
                if (condition.call()) {
                    printIfLong(Duration.ofNanos(System.nanoTime() - began), what);
                    return;
                }
                last = null;
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                last = e;
            }
            Thread.sleep(pollMillis);
            pollMillis = Math.min(pollMillis * 5 / 4, LAST_POLL_MILLIS);
        }
        throw new AssertionError("waited " + atMost.toSeconds() + " s in vain for: " + what, last);
    }

    private static void printIfLong(Duration waited, String what) {
        if (waited.compareTo(LONG) > 0) {
            System.err.println("waited " + waited.toSeconds() + " s for: " + what);
        }
    }
}
