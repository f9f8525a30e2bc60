package io.tailrace.formats;

import io.tailrace.audit.AuditFormatDetector;
import io.tailrace.errorlog.ErrorLogFormat;
import io.tailrace.generallog.GeneralLogFormat;
import io.tailrace.lexer.ByteText;
import io.tailrace.slowlog.SlowLogFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Detects a format from the first lines of a file. The first classifier that accepts a line decides. Each accepts only
 * lines that no other format contains. Put a new classifier first: {@code GoldenTest.everyInputIdentifiesItsFormat}
 * then fails if it accepts a line of another format.
 */
final class FormatProbe {

    private static final byte[] TIME = ByteText.ascii("# Time:");
    private static final byte[] USER = ByteText.ascii("# User@Host:");

    /** Classifiers of single lines, by the format. Audit formats have their own, which remembers earlier lines. */
    private static final Map<String, Classifier> CLASSIFIERS = classifiers();

    private FormatProbe() {}

    /** Decides by one line without its end whether the file has a format. */
    private interface Classifier {

        boolean accepts(byte[] bytes, int from, int to);
    }

    private static Map<String, Classifier> classifiers() {
        Map<String, Classifier> result = new LinkedHashMap<>();
        result.put(SlowLogFormat.NAME, FormatProbe::isSlowLog);
        result.put(GeneralLogFormat.NAME, GeneralLogFormat::classifies);
        result.put(ErrorLogFormat.NAME, ErrorLogFormat::classifies);
        return result;
    }

    /** Returns the format of the first line that identifies one. A banner alone identifies the format of the source. */
    static Optional<String> first(byte[] head, String source) {
        AuditFormatDetector audit = new AuditFormatDetector();
        String ofBanner = source.equals("general") ? GeneralLogFormat.NAME : SlowLogFormat.NAME;
        boolean banner = false;
        int from = 0;
        while (from < head.length) {
            int next = ByteText.lineFeed(head, from, head.length) + 1;
            int to = ByteText.withoutLineEnd(head, from, Math.min(next, head.length));
            Optional<String> format = ofLine(head, from, to, audit);
            if (format.isPresent()) {
                return format;
            }
            banner |= GeneralLogFormat.isBanner(head, from, to);
            from = next;
        }
        return banner ? Optional.of(ofBanner) : Optional.empty();
    }

    private static Optional<String> ofLine(byte[] head, int from, int to, AuditFormatDetector audit) {
        Optional<String> format = audit.line(head, from, to);
        return format.isPresent()
                ? format
                : CLASSIFIERS.entrySet().stream()
                        .filter(each -> each.getValue().accepts(head, from, to))
                        .map(Map.Entry::getKey)
                        .findFirst();
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
