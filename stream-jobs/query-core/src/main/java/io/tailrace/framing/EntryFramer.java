package io.tailrace.framing;

/**
 * Splits one log file into entries. A framer stores positions and lexer state, but no bytes: its caller keeps the
 * bytes from {@link #pendingFrom()} on and receives ranges of file offsets.
 *
 * <p>The result depends on the bytes alone, not on how they arrive or how long a writer pauses. An entry is reported
 * as soon as the bytes read so far prove that it is complete, and never because of a timeout.
 *
 * <p>Rejections have the same meaning in every format:
 *
 * <ul>
 *   <li>{@link DeadLetterCode#NO_ENTRY_START}: lines before the first certain start of an entry, at the start of the
 *       file or after a hole. Lines that belong to no entry later are {@link DeadLetterCode#STRAY_TEXT}. Consecutive
 *       lines are one rejection of about {@link EntryLimits#MAX_REJECTION_LENGTH} bytes at most: a longer range is
 *       rejected in parts.
 *   <li>{@link DeadLetterCode#ENTRY_TOO_LARGE}: an entry of more than {@link EntryLimits#MAX_ENTRY_LENGTH} bytes. It is
 *       rejected as soon as it exceeds the limit, whether its end was read or not. Only the framer of error logs cuts
 *       entries instead, at a lower limit.
 *   <li>{@link DeadLetterCode#INCOMPLETE}: an entry without its end. The framer rejects it if the format marks the end
 *       (a final semicolon, a closing brace). If only the next entry marks the end, the framer reports the entry, and
 *       the parser decides.
 * </ul>
 *
 * <p>Not thread-safe. Never throws for bad input.
 */
public interface EntryFramer {

    /**
     * Reads one whole line. Lines must be in file order without holes; the caller reports a hole with {@link #hole}
     * first.
     *
     * @param buffer contains the line
     * @param from index of the line's first byte
     * @param to index after the line's last byte, its line feed included
     * @param offset file offset of {@code buffer[from]}
     * @param out receives what this line completes, in file order and without overlap
     * @return the file offset at which to continue, normally {@code offset + to - from}. A smaller one, never below
     *     the first byte that is not reported yet, asks the caller to feed the lines from there again: this is the
     *     line start where reading resynchronizes after an unterminated literal
     */
    long line(byte[] buffer, int from, int to, long offset, FrameListener out);

    /**
     * Returns the file offset of the first byte that was read and not yet reported; if there is none, the next offset
     * to read.
     */
    long pendingFrom();

    /**
     * Ends the file: no byte follows. Pending bytes are reported as an entry if they are or may be one, otherwise as
     * rejected. If the last line has no line feed, the caller feeds it first.
     */
    void end(FrameListener out);

    /**
     * Skips lost bytes up to {@code resumeAt}. Pending bytes are reported as by {@link #end}. Reading continues at
     * {@code resumeAt}; what precedes the next certain start of an entry is rejected as {@link
     * DeadLetterCode#NO_ENTRY_START}. Context that the lost bytes may have changed (default database, inherited time)
     * is discarded.
     */
    void hole(long resumeAt, FrameListener out);

    /**
     * Returns a snapshot from which {@link LogFormat#restoreFramer} creates a framer with the same behavior. It has
     * at most a few hundred bytes. Framers that track sessions need at most 64 KiB and the current record. Its first
     * byte is the version of its layout, above 0; docs/STATE.md lists the older framers without one.
     */
    byte[] snapshot();
}
