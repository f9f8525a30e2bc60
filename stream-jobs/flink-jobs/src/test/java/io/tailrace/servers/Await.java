package io.tailrace.servers;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for conditions of other processes. */
public final class Await {

    private static final long POLL_MILLIS = 50;

    private Await() {}

    /** Asks until the answer is true; an exception counts as false. Fails with what was waited for. */
    public static void until(String what, Duration atMost, Callable<Boolean> condition) throws InterruptedException {
        long deadline = System.nanoTime() + atMost.toNanos();
        Exception last = null;
        while (System.nanoTime() < deadline) {
            try {
                if (condition.call()) {
                    return;
                }
                last = null;
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                last = e;
            }
            Thread.sleep(POLL_MILLIS);
        }
        throw new AssertionError("waited " + atMost.toSeconds() + " s in vain for: " + what, last);
    }
}
