package io.tailrace.formats;

import io.tailrace.audit.AuditHead;
import io.tailrace.errorlog.ErrorLogFormat;
import io.tailrace.lexer.ByteText;
import io.tailrace.slowlog.SlowLogFormat;
import java.util.Optional;

/** Judges the first lines of a file. */
final class HeadLines {

    private static final byte[] TIME = ByteText.ascii("# Time:");
    private static final byte[] USER = ByteText.ascii("# User@Host:");
    private static final byte[] BANNER = ByteText.ascii("started with:");
    private static final byte[] VERSION = ByteText.ascii(", Version: ");

    private HeadLines() {}

    /** Name of the format of the first line that tells one. */
    static Optional<String> first(byte[] head) {
        AuditHead audit = new AuditHead();
        int from = 0;
        while (from < head.length) {
            int next = ByteText.lineFeed(head, from, head.length) + 1;
            int to = ByteText.withoutLineEnd(head, from, Math.min(next, head.length));
            Optional<String> format =
                    isSlowLog(head, from, to) ? Optional.of(SlowLogFormat.NAME) : audit.line(head, from, to);
            if (format.isEmpty() && ErrorLogFormat.tells(head, from, to)) {
                format = Optional.of(ErrorLogFormat.NAME);
            }
            if (format.isPresent()) {
                return format;
            }
            from = next;
        }
        return Optional.empty();
    }

    private static boolean isSlowLog(byte[] head, int from, int to) {
        if (isSlowLogTime(head, from, to) || ByteText.startsWith(head, from, to, USER)) {
            return true;
        }
        boolean banner = ByteText.endsWith(head, from, to, BANNER);
        return banner && ByteText.indexOf(head, from, to, VERSION) >= 0;
    }

    /** {@code # Time: 2}: other logs quote statements that hold a number sign and the word. */
    private static boolean isSlowLogTime(byte[] head, int from, int to) {
        if (!ByteText.startsWith(head, from, to, TIME)) {
            return false;
        }
        int value = ByteText.skipBlanks(head, from + TIME.length, to);
        return value < to && ByteText.isDigit(head[value]);
    }
}
