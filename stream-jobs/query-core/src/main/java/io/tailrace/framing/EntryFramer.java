package io.tailrace.framing;

/**
 * Cuts one log file into entries. A framer holds positions and lexer state, never bytes: its caller keeps the
 * bytes from {@link #pendingFrom()} on and gets ranges of file offsets back.
 *
 * <p>The result depends on the bytes alone, not on how they arrive or on how long a writer pauses: an entry is
 * reported once the bytes seen so far prove it complete, and never by a timeout.
 *
 * <p>Not thread-safe. Never throws for bad input.
 */
public interface EntryFramer {

    /**
     * Reads one whole line. Lines come in file order without holes; after a hole {@link #hole} comes first.
     *
     * @param buffer holds the line
     * @param from index of the line's first byte
     * @param to index after the line's last byte, its line feed included
     * @param offset file offset of {@code buffer[from]}
     * @param out receives what this line completes, in file order and without overlap
     * @return the file offset to go on from: normally {@code offset + to - from}; a smaller one, never below the
     *     first byte not yet reported, asks the caller to feed again from there, the line start where reading
     *     resynchronises after an unterminated literal
     */
    long line(byte[] buffer, int from, int to, long offset, FrameListener out);

    /**
     * File offset of the first byte that was read and not yet reported; the next offset to read when there is none.
     */
    long pendingFrom();

    /**
     * No byte follows the ones read: the end of the file is certain. Pending bytes are reported, as an entry where
     * they are one, else as rejected. The last line may lack its line feed: the caller feeds it first.
     */
    void end(FrameListener out);

    /**
     * Bytes up to {@code resumeAt} are lost. Pending bytes are reported as at {@link #end}; reading goes on at
     * {@code resumeAt} and looks for the next sure start of an entry; what lies before it is rejected. Context that
     * the lost bytes may have changed (default database, carried time) is forgotten.
     */
    void hole(long resumeAt, FrameListener out);

    /**
     * A snapshot from which {@link LogFormat#restoreFramer} makes a framer that behaves the same. At most a few
     * hundred bytes, but for framers that know who is connected: at most 64 KiB, and the record at hand.
     */
    byte[] snapshot();
}
