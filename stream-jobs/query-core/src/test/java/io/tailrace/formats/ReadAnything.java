package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;

/** Checks the properties that hold for every input of a format. */
public final class ReadAnything {

    private ReadAnything() {}

    /**
     * Reads a file. The format's framer and parser must not throw, must report every byte once and in order, and must
     * return the same result when they are saved and restored after every line.
     */
    public static void check(LogFormat format, byte[] file) {
        FramedLog log = FramedLog.of(format, file);
        assertThat(log.reported()).isEqualTo(file.length);
        assertThat(FramedLog.ofRestored(format, file).frames()).isEqualTo(log.frames());
        assertThat(Parsed.of(format, log)).hasSameSizeAs(log.entries());
    }
}
