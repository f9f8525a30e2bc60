package io.tailrace.framing;

import io.tailrace.lexer.ByteText;
import java.util.ArrayList;
import java.util.List;

/** Frames a whole file in memory and collects the reports of its framer. */
public final class FramedLog implements FrameListener {

    /** One report. Entries have a context, framing has a kind, rejections have a code and a message. */
    public record Frame(
            long from, long to, EntryContext context, FramingKind kind, DeadLetterCode code, String message) {

        public boolean isEntry() {
            return context != null;
        }
    }

    private final byte[] file;
    private final List<Frame> frames = new ArrayList<>();
    private long reported;

    private FramedLog(byte[] file) {
        this.file = file;
    }

    /** Frames a file line by line. Each line is in a separate array, at an index that differs from its offset. */
    public static FramedLog of(LogFormat format, byte[] file) {
        FramedLog log = new FramedLog(file);
        log.feed(format.newFramer()).end(log);
        return log;
    }

    /** Frames a file that may continue: its end is not certain. */
    public static FramedLog ofOpen(LogFormat format, byte[] file) {
        FramedLog log = new FramedLog(file);
        log.feed(format.newFramer());
        return log;
    }

    private EntryFramer feed(EntryFramer framer) {
        long at = 0;
        while (at < file.length) {
            at = feed(framer, at);
        }
        return framer;
    }

    /** Frames a file with a framer that is saved and restored after every line. */
    public static FramedLog ofRestored(LogFormat format, byte[] file) {
        FramedLog log = new FramedLog(file);
        EntryFramer framer = format.newFramer();
        long at = 0;
        while (at < file.length) {
            at = log.feed(framer, at);
            framer = format.restoreFramer(framer.snapshot());
        }
        framer.end(log);
        return log;
    }

    /** Frames a file in which the bytes between two line starts are lost. */
    public static FramedLog withHole(LogFormat format, byte[] file, int from, int to) {
        FramedLog log = new FramedLog(file);
        EntryFramer framer = format.newFramer();
        long at = 0;
        while (at < from) {
            at = log.feed(framer, at);
        }
        framer.hole(to, log);
        if (log.reported != from) {
            throw new AssertionError("expected all bytes before the hole at " + from + ", found " + log.reported);
        }
        log.reported = to;
        at = to;
        while (at < file.length) {
            at = log.feed(framer, at);
        }
        framer.end(log);
        if (log.reported != file.length) {
            throw new AssertionError("expected all bytes after the hole, found " + log.reported);
        }
        return log;
    }

    /** Feeds the line at an offset; returns the offset at which to continue. */
    public long feed(EntryFramer framer, long offset) {
        int from = (int) offset;
        int to = Math.min(ByteText.lineFeed(file, from, file.length) + 1, file.length);
        byte[] buffer = new byte[to - from + 3];
        System.arraycopy(file, from, buffer, 3, to - from);
        long next = framer.line(buffer, 3, buffer.length, offset, this);
        if (next < reported || framer.pendingFrom() > next || framer.pendingFrom() < reported) {
            throw new AssertionError(
                    "reported to " + reported + ", pending from " + framer.pendingFrom() + ", next " + next);
        }
        return next;
    }

    public List<Frame> frames() {
        return frames;
    }

    public List<Frame> entries() {
        return frames.stream().filter(Frame::isEntry).toList();
    }

    public List<Frame> rejections() {
        return frames.stream().filter(frame -> frame.code() != null).toList();
    }

    public byte[] file() {
        return file;
    }

    /** Returns the number of reported bytes, which must be all. */
    public long reported() {
        return reported;
    }

    @Override
    public void entry(long from, long to, EntryContext context) {
        add(new Frame(from, to, context, null, null, null));
    }

    @Override
    public void framing(long from, long to, FramingKind kind) {
        add(new Frame(from, to, null, kind, null, null));
    }

    @Override
    public void rejected(long from, long to, DeadLetterCode code, String message) {
        add(new Frame(from, to, null, null, code, message));
    }

    private void add(Frame frame) {
        if (frame.from() != reported || frame.to() <= frame.from()) {
            throw new AssertionError("expected a range from " + reported + ", found " + frame);
        }
        reported = frame.to();
        frames.add(frame);
    }
}
