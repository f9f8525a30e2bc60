package io.tailrace.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.Main;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import org.junit.jupiter.api.Test;

class OutputClosedExceptionTest {

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    /** Runs a command whose output cannot be written after some bytes. */
    private int run(String reason) {
        OutputStream broken = new OutputStream() {
            private int left = 1_000;

            @Override
            public void write(int b) throws IOException {
                if (left-- <= 0) {
                    throw new IOException(reason);
                }
            }
        };
        PrintStream out = new PrintStream(
                new BufferedOutputStream(OutputClosedException.reportingClosed(broken), 256),
                false,
                StandardCharsets.UTF_8);
        byte[] statements = "SELECT 1\n".repeat(1_000).getBytes(StandardCharsets.UTF_8);
        PrintStream notes = new PrintStream(err, true, StandardCharsets.UTF_8);
        Terminal terminal = new Terminal(new ByteArrayInputStream(statements), out, notes, TerminalCapabilities.NONE);
        return Main.run(terminal, Clock.systemUTC(), "fingerprint");
    }

    @Test
    void aClosedPipeEndsTheCommandWithoutAMessage() {
        assertThat(run("Broken pipe")).isEqualTo(141);
        assertThat(err.size()).isZero();
    }

    @Test
    void aFullDiskIsReported() {
        assertThat(run("No space left on device")).isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .isEqualTo("cannot write to standard output: No space left on device\n");
    }
}
