package io.tailrace.cli;

import io.tailrace.reassembly.LogId;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** A file named on the command line: plain, gzip (told by its first bytes), or {@code -} for standard input. */
record LogFile(String name) {

    private static final String STANDARD_INPUT = "-";
    private static final int BUFFER = 1 << 16;

    /** The file's bytes, uncompressed. */
    InputStream open(InputStream standardInput) throws IOException {
        InputStream raw = isStandardInput() ? standardInput : Files.newInputStream(Path.of(name));
        BufferedInputStream in = new BufferedInputStream(raw, BUFFER);
        in.mark(2);
        int first = in.read();
        int second = in.read();
        in.reset();
        return first == 0x1f && second == 0x8b ? new GZIPInputStream(in, BUFFER) : in;
    }

    /** The path by which the file is one of a log's: absolute, without rotation suffix. */
    String canonicalPath() {
        return isStandardInput()
                ? name
                : LogId.canonicalPath(Path.of(name).toAbsolutePath().normalize().toString());
    }

    boolean isStandardInput() {
        return STANDARD_INPUT.equals(name);
    }
}
