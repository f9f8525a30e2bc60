package io.tailrace.formats;

import io.tailrace.audit.AuditFormatDetector;
import io.tailrace.errorlog.ErrorLogFormat;
import io.tailrace.generallog.GeneralLogFormat;
import io.tailrace.lexer.ByteText;
import io.tailrace.slowlog.SlowLogFormat;
import java.util.Optional;

/**
 * Detects a format from the first lines of a file. The first classifier that accepts a line decides. Each accepts only
 * lines that no other format contains, so the order does not matter: in the reverse order, all golden inputs have the
 * same format. Try a new classifier before the others, where {@code GoldenTest.everyInputIdentifiesItsFormat} fails if
 * it accepts a line of another format.
 */
final class FormatProbe {

    private static final byte[] TIME = ByteText.ascii("# Time:");
    private static final byte[] USER = ByteText.ascii("# User@Host:");

    private FormatProbe() {}

    /** Returns the format of the first line that identifies one. A banner alone identifies the format of the source. */
    static Optional<String> first(byte[] head, String source) {
        AuditFormatDetector audit = new AuditFormatDetector();
        String ofBanner = source.equals("general") ? GeneralLogFormat.NAME : SlowLogFormat.NAME;
        boolean banner = false;
        int from = 0;
        while (from < head.length) {
            int next = ByteText.lineFeed(head, from, head.length) + 1;
            int to = ByteText.withoutLineEnd(head, from, Math.min(next, head.length));
            Optional<String> format =
                    isSlowLog(head, from, to) ? Optional.of(SlowLogFormat.NAME) : audit.line(head, from, to);
            if (format.isEmpty() && GeneralLogFormat.classifies(head, from, to)) {
                format = Optional.of(GeneralLogFormat.NAME);
            } else if (format.isEmpty() && ErrorLogFormat.classifies(head, from, to)) {
                format = Optional.of(ErrorLogFormat.NAME);
            }
            banner |= GeneralLogFormat.isBanner(head, from, to);
            if (format.isPresent()) {
                return format;
            }
            from = next;
        }
        return banner ? Optional.of(ofBanner) : Optional.empty();
    }

    private static boolean isSlowLog(byte[] head, int from, int to) {
        return isSlowLogTime(head, from, to) || ByteText.startsWith(head, from, to, USER);
    }

    /**
     * Returns whether the line starts with {@code # Time: 2}. Other logs quote statements that contain a number sign
     * and the word.
     */
    private static boolean isSlowLogTime(byte[] head, int from, int to) {
        if (!ByteText.startsWith(head, from, to, TIME)) {
            return false;
        }
        int value = ByteText.skipBlanks(head, from + TIME.length, to);
        return value < to && ByteText.isDigit(head[value]);
    }
}
