package io.tailrace.cli.terminal;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;

/** Shows the progress of reading as a line on standard error, if that is a terminal. */
public final class ProgressBar {

    /** Time of reading before anything is shown, nanoseconds. */
    private static final long DISPLAY_DELAY_NANOS = 500_000_000L;
    /** Time between two updates, nanoseconds. */
    private static final long INTERVAL = 100_000_000L;

    private static final int BAR = 30;
    private static final double MEGABYTE = 1e6;
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintStream err;
    private final boolean shown;
    private final LongSupplier nanoTime;
    private final long total;
    private final long started;
    private long read;
    private long next;
    private boolean drawn;

    /**
     * Creates a progress bar.
     *
     * @param shown whether to draw it at all
     * @param total bytes to read, as stored; -1 if unknown
     * @param nanoTime a clock
     */
    public ProgressBar(PrintStream err, boolean shown, long total, LongSupplier nanoTime) {
        this.err = err;
        this.shown = shown;
        this.total = total;
        this.nanoTime = nanoTime;
        this.started = nanoTime.getAsLong();
        this.next = started + DISPLAY_DELAY_NANOS;
    }

    /** Returns the same stream, which counts the bytes that are read from it. */
    public InputStream counting(InputStream in) {
        return new FilterInputStream(in) {
            @Override
            public int read() throws IOException {
                int b = in.read();
                advance(b < 0 ? 0 : 1);
                return b;
            }

            @Override
            public int read(byte[] bytes, int from, int length) throws IOException {
                int count = in.read(bytes, from, length);
                advance(Math.max(0, count));
                return count;
            }
        };
    }

    private void advance(int bytes) {
        read += bytes;
        if (shown) {
            long now = nanoTime.getAsLong();
            if (now - next >= 0) {
                next = now + INTERVAL;
                draw((now - started) / 1e9);
            }
        }
    }

    private void draw(double seconds) {
        drawn = true;
        err.print(CLEAR_LINE + line(read, total, seconds));
        err.flush();
    }

    /** Removes the line, so that other output can be written. */
    public void clear() {
        if (drawn) {
            err.print(CLEAR_LINE);
            err.flush();
            drawn = false;
        }
    }

    static String line(long read, long total, double seconds) {
        double rate = seconds <= 0 ? 0 : read / seconds;
        String speed = String.format(Locale.ROOT, "%,.0f MB/s", rate / MEGABYTE);
        if (total <= 0) {
            return String.format(Locale.ROOT, "%,.0f MB  %s", read / MEGABYTE, speed);
        }
        double part = Math.min(1, read / (double) total);
        int full = (int) (part * BAR);
        long left = rate == 0 ? 0 : Math.round(Math.max(0, total - read) / rate);
        return String.format(
                Locale.ROOT,
                "%s%s %3.0f%%  %,.0f of %,.0f MB  %s  %d:%02d left",
                "━".repeat(full),
                "─".repeat(BAR - full),
                Math.floor(part * 100),
                read / MEGABYTE,
                total / MEGABYTE,
                speed,
                left / 60,
                left % 60);
    }
}
