package io.tailrace.reassembly.generation;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogFormats;
import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.content.ContentHashes;
import io.tailrace.reassembly.content.LineHashes;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import java.util.Arrays;
import java.util.Optional;

/**
 * Reads lines of one file in order, detects the format, frames, and stores the bytes that are not reported yet.
 *
 * <p>Bytes from {@link #accounted} to {@link #frontier} are pending; earlier bytes have been reported to the
 * listener, each once.
 */
final class LineReader implements FrameListener {

    private final LogFormats formats;
    private final ReassemblyLimits limits;
    private final String source;
    private final ContentHashes hashes;
    private final RangeRecorder ranges;
    private final PendingBytes pending;
    private final PendingBytes.Line pendingLine = new PendingBytes.Line();
    private FrameListener listener;

    private String hint = "";
    private LogFormat format;
    private EntryFramer framer;
    /** While the format is unknown: start of the bytes in which it is detected. */
    private long detectFrom;

    private long frontier;
    private ContentHashes.Segment segment;
    private boolean recording = true;

    /**
     * Start of the last line if its end may have one more byte than was received; the fields below serve to read it
     * again.
     */
    private long lastLineFrom = -1;

    private byte[] framerBeforeLastLine;
    private boolean lastLineSilent;
    private boolean longLineEnds;

    private byte[] current = new byte[0];
    private int currentIndex;
    private int currentTo;
    private long currentFrom;
    private long reports;

    /** Receives the bytes of a file that were never read before, by any of its readers. */
    interface RangeRecorder {

        /** Takes the whole lines {@code bytes[from, to)}, the first of which starts at an offset of the file. */
        void read(byte[] bytes, int from, int to, long offset);

        /** Extends the line that ends at an offset from one byte of line end to two. */
        void extendLastLine(long offset);
    }

    LineReader(
            String source,
            LogFormats formats,
            ReassemblyLimits limits,
            ContentHashes hashes,
            RangeRecorder ranges,
            StateWriter.Ids ids) {
        this.source = source;
        this.formats = formats;
        this.limits = limits;
        this.hashes = hashes;
        this.ranges = ranges;
        this.pending = new PendingBytes(ids);
    }

    void listen(FrameListener to) {
        listener = to;
    }

    /** Creates an independent reader in the same state. */
    LineReader fork(StateWriter.Ids ids) {
        LineReader fork = new LineReader(source, formats, limits, hashes, ranges, ids);
        fork.hint = hint;
        fork.format = format;
        fork.framer = framer == null ? null : format.restoreFramer(framer.snapshot());
        fork.detectFrom = detectFrom;
        fork.frontier = frontier;
        fork.lastLineFrom = lastLineFrom;
        fork.framerBeforeLastLine = framerBeforeLastLine;
        fork.lastLineSilent = lastLineSilent;
        fork.longLineEnds = longLineEnds;
        fork.pending.append(accounted(), pendingCopy());
        fork.forgetCurrent();
        return fork;
    }

    /** Starts in mid-file without the context of earlier bytes. */
    void startAt(LogFormat knownFormat, long offset) {
        detectFrom = offset;
        frontier = offset;
        if (knownFormat != null) {
            use(knownFormat);
        }
    }

    /** Returns the file offset of the next byte to read. */
    long frontier() {
        return frontier;
    }

    /** Returns the file offset of the first byte that is not reported yet. */
    long accounted() {
        return framer == null ? detectFrom : framer.pendingFrom();
    }

    /** Returns null while the format is unknown. */
    LogFormat format() {
        return format;
    }

    /** Returns the state of the framer; null while the format is unknown. */
    byte[] framerSnapshot() {
        return framer == null ? null : framer.snapshot();
    }

    /** Returns the bytes that are read and not reported yet. */
    byte[] pendingCopy() {
        return copy(accounted(), frontier);
    }

    /** Returns whether the last line end, received as one byte, may have two in the file. */
    boolean endMayBeLonger() {
        return lastLineFrom >= 0;
    }

    /** Returns whether the line before the last one ended with a carriage return and a line feed. */
    boolean lineEndsAreLong() {
        return longLineEnds;
    }

    /** Returns bytes of the current block or of the pending ones. */
    byte[] copy(long from, long to) {
        if (from >= currentFrom && to <= currentFrom + currentTo - currentIndex) {
            int start = currentIndex + (int) (from - currentFrom);
            return Arrays.copyOfRange(current, start, start + (int) (to - from));
        }
        byte[] copy = new byte[Math.toIntExact(to - from)];
        pending.copy(from, to, copy);
        long end = Math.min(to, currentFrom + currentTo - currentIndex);
        long start = Math.max(from, currentFrom);
        if (start < end) {
            int index = currentIndex + (int) (start - currentFrom);
            System.arraycopy(current, index, copy, (int) (start - from), (int) (end - start));
        }
        return copy;
    }

    /** Reads lines whose hashes are already recorded; otherwise the same as {@link #read}. */
    void readAgain(byte[] bytes, int from, int to) {
        recording = false;
        hashes.close(segment);
        segment = null;
        read(hint, bytes, from, to);
        recording = true;
    }

    /** Reads the whole lines {@code bytes[from, to)}, the first of which starts at {@link #frontier}. */
    void read(String formatHint, byte[] bytes, int from, int to) {
        hint = formatHint;
        if (recording) {
            ranges.read(bytes, from, to, frontier);
        }
        present(bytes, from, to);
        noteLineEnds();
        frame();
        keepPending();
    }

    private void present(byte[] bytes, int from, int to) {
        current = bytes;
        currentIndex = from;
        currentTo = to;
        currentFrom = frontier;
        lastLineFrom = -1;
    }

    /** Records the line end of the last line but one, because the collector may have shortened the last one's. */
    private void noteLineEnds() {
        int feed = currentTo - 2;
        while (feed > currentIndex && current[feed] != '\n') {
            feed--;
        }
        if (feed > currentIndex) {
            longLineEnds = current[feed - 1] == '\r';
        }
    }

    private void frame() {
        if (framer == null) {
            detect();
        } else {
            feed(currentFrom);
        }
    }

    /** Feeds pending lines and lines of the block, from an offset to the block's end. */
    private void feed(long from) {
        long position = from;
        long end = currentFrom + currentTo - currentIndex;
        while (position < end) {
            if (position < currentFrom) {
                pending.line(position, pendingLine);
                position = framer.line(pendingLine.bytes(), pendingLine.from(), pendingLine.to(), position, this);
            } else {
                position = feedCurrent(position);
            }
        }
    }

    private long feedCurrent(long position) {
        int from = currentIndex + (int) (position - currentFrom);
        int to = LineHashes.end(current, from, currentTo);
        if (position == frontier) {
            advance(from, to);
        }
        if (to < currentTo) {
            return framer.line(current, from, to, position, this);
        }
        return feedLast(from, position);
    }

    private long feedLast(int from, long position) {
        if (lastLineFrom < 0) {
            framerBeforeLastLine = framer.snapshot();
        }
        long before = reports;
        long next = framer.line(current, from, currentTo, position, this);
        lastLineSilent = lastLineFrom < 0 && before == reports && next == frontier;
        lastLineFrom = position;
        return next;
    }

    private void advance(int from, int to) {
        if (recording) {
            long lineHash = LineHashes.hash(current, from, LineHashes.contentEnd(current, from, to));
            segment = hashes.add(segment, frontier, frontier + to - from, lineHash);
        }
        frontier += to - from;
    }

    /**
     * Reads lines until the format is known. If no format matches, the bytes are rejected in pieces that depend only
     * on the bytes.
     */
    private void detect() {
        int index = currentIndex;
        while (framer == null && index < currentTo) {
            int to = LineHashes.end(current, index, currentTo);
            if (to == currentTo) {
                lastLineFrom = frontier;
                lastLineSilent = true;
                framerBeforeLastLine = null;
            }
            advance(index, to);
            index = to;
            boolean enough = frontier - detectFrom >= limits.detectBytes();
            if (enough || index == currentTo) {
                tryFormats(enough);
            }
        }
        if (framer != null) {
            lastLineFrom = -1;
            feed(detectFrom);
        }
    }

    private void tryFormats(boolean enough) {
        Optional<LogFormat> found = formats.detect(source, hint, copy(detectFrom, frontier));
        if (found.isPresent()) {
            use(found.get());
        } else if (enough) {
            rejectUnknown();
        }
    }

    private void use(LogFormat found) {
        format = found;
        framer = found.newFramer();
        if (detectFrom > 0) {
            framer.hole(detectFrom, this);
        }
    }

    private void rejectUnknown() {
        if (frontier > detectFrom) {
            long from = detectFrom;
            detectFrom = frontier;
            rejected(from, frontier, DeadLetterCode.UNKNOWN_FORMAT, unknownFormat());
        }
    }

    /** Only a name that no format of the source has, such as a misspelled one, leads here with a hint. */
    private String unknownFormat() {
        return hint.isEmpty() || hint.equals("auto")
                ? "no format of " + source + " matches"
                : "expected the name of a format of " + source + " or auto in the key format, found " + hint;
    }

    private void keepPending() {
        long from = accounted();
        pending.dropBefore(from);
        long end = currentFrom + currentTo - currentIndex;
        long start = Math.max(from, currentFrom);
        if (start < end) {
            int index = currentIndex + (int) (start - currentFrom);
            boolean whole = index == 0 && currentTo == current.length;
            pending.append(start, whole ? current : Arrays.copyOfRange(current, index, currentTo));
        }
        forgetCurrent();
    }

    private void forgetCurrent() {
        current = new byte[0];
        currentIndex = 0;
        currentTo = 0;
        currentFrom = frontier;
    }

    /** Extends the last line by the carriage return that the collector stripped from its end. */
    void extendLastLine() {
        ranges.extendLastLine(frontier);
        if (segment != null) {
            hashes.extend(segment);
        }
        long lineFrom = lastLineFrom;
        lastLineFrom = -1;
        if (lastLineSilent) {
            readLastLineAgain(lineFrom);
        } else {
            addLineFeed();
        }
    }

    private void readLastLineAgain(long lineFrom) {
        byte[] line = copy(lineFrom, frontier + 1);
        line[line.length - 2] = '\r';
        line[line.length - 1] = '\n';
        pending.truncate(lineFrom);
        frontier++;
        currentFrom = lineFrom;
        current = line;
        currentTo = line.length;
        if (framer != null) {
            framer = format.restoreFramer(framerBeforeLastLine);
            feed(lineFrom);
        } else {
            tryFormats(frontier - detectFrom >= limits.detectBytes());
            if (framer != null) {
                feed(detectFrom);
            }
        }
        lastLineFrom = -1;
        keepPending();
    }

    /** Adds the second byte of a line end whose line has been reported already, as an empty line. */
    private void addLineFeed() {
        current = new byte[] {'\n'};
        currentTo = 1;
        currentFrom = frontier++;
        if (framer != null) {
            feed(currentFrom);
        }
        lastLineFrom = -1;
        keepPending();
    }

    /**
     * Reports what is pending and continues at {@code resumeAt}, because the bytes from {@link #frontier} on are
     * lost.
     */
    void hole(long resumeAt) {
        if (framer == null) {
            rejectUnknown();
            detectFrom = resumeAt;
        } else {
            framer.hole(resumeAt, this);
        }
        stop(resumeAt);
    }

    /** Ends the file and reports what is pending. Reading may continue nevertheless, as after an empty hole. */
    void end() {
        if (framer == null) {
            rejectUnknown();
        } else {
            framer.end(this);
            framer = format.newFramer();
            framer.hole(frontier, this);
        }
        stop(frontier);
    }

    private void stop(long resumeAt) {
        pending.clear();
        hashes.close(segment);
        segment = null;
        frontier = resumeAt;
        lastLineFrom = -1;
        framerBeforeLastLine = null;
        forgetCurrent();
    }

    /** Adopts the framer of a reader that has filled the gap before this one's pending bytes. */
    void continueFrom(LineReader filled) {
        byte[] bytes = pendingCopy();
        long from = accounted();
        pending.clear();
        byte[] before = filled.pendingCopy();
        format = filled.format;
        framer = filled.framer;
        pending.append(filled.accounted(), before);
        lastLineFrom = -1;
        current = bytes;
        currentTo = bytes.length;
        currentFrom = from;
        feed(from);
        keepPending();
    }

    /** Forwards a report of this reader's framer. */
    @Override
    public void entry(long from, long to, EntryContext context) {
        reports++;
        listener.entry(from, to, context);
    }

    @Override
    public void framing(long from, long to, FramingKind kind) {
        reports++;
        listener.framing(from, to, kind);
    }

    @Override
    public void rejected(long from, long to, DeadLetterCode code, String message) {
        reports++;
        listener.rejected(from, to, code, message);
    }

    void release() {
        pending.clear();
    }

    void save(StateWriter out) {
        out.text(hint);
        out.text(format == null ? "" : format.name());
        out.bytes(framerSnapshot());
        out.number(detectFrom);
        out.number(frontier);
        out.number(segment == null ? -1 : segment.from());
        out.number(lastLineFrom);
        out.flag(lastLineSilent);
        out.flag(longLineEnds);
        out.bytes(framerBeforeLastLine);
        pending.save(out);
    }

    void restore(StateReader in) {
        hint = in.text();
        String name = in.text();
        byte[] snapshot = in.bytes();
        if (!name.isEmpty()) {
            format = formats.named(name)
                    .orElseThrow(() -> new IllegalStateException("the state refers to an unknown format: " + name));
            framer = format.restoreFramer(snapshot);
        }
        detectFrom = in.number();
        frontier = in.number();
        long segmentFrom = in.number();
        segment = segmentFrom < 0 ? null : hashes.at(segmentFrom);
        lastLineFrom = in.number();
        lastLineSilent = in.flag();
        longLineEnds = in.flag();
        framerBeforeLastLine = in.bytes();
        pending.restore(in);
        forgetCurrent();
    }
}
