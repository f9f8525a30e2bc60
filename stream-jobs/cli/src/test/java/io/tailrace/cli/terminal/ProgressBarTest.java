package io.tailrace.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressBarTest {

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final AtomicLong now = new AtomicLong();

    private void read(boolean shown, int bytes) throws IOException {
        PrintStream out = new PrintStream(err, true, StandardCharsets.UTF_8);
        ProgressBar progress = new ProgressBar(out, shown, bytes, now::get);
        try (InputStream in = progress.counting(new ByteArrayInputStream(new byte[bytes]))) {
            byte[] block = new byte[1_000_000];
            while (in.read(block) > 0) {
                now.addAndGet(250_000_000);
            }
        }
        progress.clear();
    }

    @Test
    void longReadingIsShownAndRemoved() throws IOException {
        read(true, 8_000_000);
        String text = err.toString(StandardCharsets.UTF_8);
        assertThat(text).contains(" 50%  4 of 8 MB  5 MB/s  0:01 left").endsWith("\r\u001b[K");
    }

    @Test
    void shortReadsAndAMissingTerminalShowNothing() throws IOException {
        read(true, 1_000_000);
        read(false, 8_000_000);
        assertThat(err.size()).isZero();
    }

    @Test
    void anUnknownSizeHasNoEnd() {
        assertThat(ProgressBar.line(6_000_000, -1, 2)).isEqualTo("6 MB  3 MB/s");
    }
}
