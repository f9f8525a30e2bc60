package io.tailrace.benchmarks;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import io.tailrace.lexer.ByteText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A sample of the repository in memory, framed. */
final class SampleLog implements FrameListener {

    /** Directory of the samples; {@code make bench-core} runs at the repository's root. */
    private static final Path SAMPLES = Path.of(System.getProperty("tailrace.samples", "samples"));

    private static final LogOrigin ORIGIN = new LogOrigin("", "bench", "slowlog", "auto", "UTC", "/sample.log");

    final byte[] bytes;
    final List<LogEntry> entries = new ArrayList<>();

    SampleLog(String name, LogFormat format) {
        try {
            bytes = Files.readAllBytes(SAMPLES.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        frame(format.newFramer(), this);
        if (entries.isEmpty()) {
            throw new IllegalStateException("expected entries in " + name + ", found none");
        }
    }

    /** Feeds the whole log to a framer. */
    void frame(EntryFramer framer, FrameListener out) {
        int at = 0;
        while (at < bytes.length) {
            int end = Math.min(ByteText.lineFeed(bytes, at, bytes.length) + 1, bytes.length);
            at = (int) framer.line(bytes, at, end, at, out);
        }
        framer.end(out);
    }

    @Override
    public void entry(long from, long to, EntryContext context) {
        entries.add(new LogEntry(ORIGIN, 1, from, bytes, (int) from, (int) to, context));
    }

    @Override
    public void framing(long from, long to, FramingKind kind) {}

    @Override
    public void rejected(long from, long to, DeadLetterCode code, String message) {}
}
