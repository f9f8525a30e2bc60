package io.tailrace.audit.syslog;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ValueBuffer;
import io.tailrace.time.CivilTime;

/**
 * A line of a system log as the usual daemons write it:
 *
 * <pre>
 * Jan  2 03:04:05 host tag: message                 (RFC 3164, local time without a year)
 * 2026-01-02T03:04:05.123456+00:00 host tag[7]: …   (rsyslog's own)
 * 1 2026-01-02T03:04:05.123456Z host tag 7 - - …     (RFC 5424, which always has a priority)
 * </pre>
 *
 * each perhaps after a priority, {@code <190>}. Daemons write control characters as {@code #012}. Not thread-safe.
 */
public final class SyslogLine {

    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
    private static final int OLD_TIME = "Jan  2 03:04:05".length();
    private static final int MAX_PRIORITY_LENGTH = 5;
    private static final byte[] VERSION = ByteText.ascii("1 ");
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};
    /** Words of RFC 5424 between the time and the structured data: host, application, process, message id. */
    private static final int WORDS = 4;

    private final ValueBuffer message = new ValueBuffer();
    private byte[] in;
    private int to;
    private int messageFrom;

    /** Month from 1, or 0 if the time is complete. */
    public int month;

    public int day;
    public int hour;
    public int minute;
    public int second;
    /** Epoch microseconds if the time is complete. */
    public long micros;

    /** Returns whether the line starts with {@code <number>}, which is not a tag of a document. */
    public boolean isPriority(byte[] bytes, int from, int end) {
        return afterPriority(bytes, from, end) > from;
    }

    private static int afterPriority(byte[] bytes, int from, int end) {
        if (from >= end || bytes[from] != '<') {
            return from;
        }
        int i = from + 1;
        while (i < end && ByteText.isDigit(bytes[i])) {
            i++;
        }
        boolean priority = i > from + 1 && i - from < MAX_PRIORITY_LENGTH && i < end && bytes[i] == '>';
        return priority ? i + 1 : from;
    }

    /** Reads what precedes the message; returns false if the line does not come from a system log. */
    public boolean read(byte[] bytes, int from, int end) {
        in = bytes;
        to = end;
        int start = afterPriority(bytes, from, end);
        boolean versioned = start > from && ByteText.startsWith(bytes, start, end, VERSION);
        int i = time(versioned ? start + VERSION.length : start);
        if (i < 0) {
            return false;
        }
        messageFrom = versioned ? afterWords(i) : afterTag(i);
        return messageFrom > 0;
    }

    /** Returns the index after the words of RFC 5424 between time and message, or -1. */
    private int afterWords(int from) {
        int i = from;
        for (int word = 0; word < WORDS; word++) {
            i = ByteText.skipBlanks(in, i, to);
            int end = wordEnd(i);
            if (end == i) {
                return -1;
            }
            i = end;
        }
        i = afterStructuredData(ByteText.skipBlanks(in, i, to));
        boolean mark = i > 0 && ByteText.startsWith(in, Math.min(i + 1, to), to, BYTE_ORDER_MARK);
        return mark ? i + 1 + BYTE_ORDER_MARK.length : i;
    }

    /** Skips {@code -}, or elements in brackets, in whose values a backslash precedes a bracket or quotation mark. */
    private int afterStructuredData(int from) {
        if (from < to && in[from] == '-') {
            return from + 1;
        }
        int i = from;
        while (i < to && in[i] == '[') {
            i = afterElement(i);
        }
        return i > from ? i : -1;
    }

    private int afterElement(int from) {
        int i = from + 1;
        while (i < to && in[i] != ']') {
            i += in[i] == '\\' ? 2 : 1;
        }
        return Math.min(i + 1, to);
    }

    /** Returns the index after the time, or -1. */
    private int time(int from) {
        month = 0;
        if (from < to && ByteText.isDigit(in[from])) {
            int end = wordEnd(from);
            micros = CivilTime.iso(in, from, end);
            return micros == CivilTime.NONE ? -1 : end;
        }
        return oldTime(from);
    }

    private int oldTime(int from) {
        if (to - from <= OLD_TIME || in[from + 3] != ' ' || in[from + 9] != ':' || in[from + 12] != ':') {
            return -1;
        }
        int name = MONTHS.indexOf(ByteText.utf8(in, from, from + 3));
        int dayFrom = in[from + 4] == ' ' ? from + 5 : from + 4;
        day = (int) ByteText.unsigned(in, dayFrom, from + 6);
        hour = (int) ByteText.unsigned(in, from + 7, from + 9);
        minute = (int) ByteText.unsigned(in, from + 10, from + 12);
        second = (int) ByteText.unsigned(in, from + 13, from + 15);
        month = name % 3 == 0 ? name / 3 + 1 : 0;
        boolean sound = month > 0 && day > 0 && hour >= 0 && minute >= 0 && second >= 0;
        return sound ? from + OLD_TIME : -1;
    }

    private int wordEnd(int from) {
        int i = from;
        while (i < to && !ByteText.isBlank(in[i])) {
            i++;
        }
        return i;
    }

    /** Returns the index after {@code host tag: }, or -1: the tag is the word that ends with a colon. */
    private int afterTag(int from) {
        int i = ByteText.skipBlanks(in, from, to);
        for (int word = 0; word < 3 && i < to; word++) {
            int end = wordEnd(i);
            if (in[end - 1] == ':') {
                return end;
            }
            i = ByteText.skipBlanks(in, end, to);
        }
        return -1;
    }

    /** Returns the index of the message in the line, including the blanks before it. */
    public int messageFrom() {
        return messageFrom;
    }

    /** Returns the message with its control characters decoded, up to {@link #messageLength()}. */
    public byte[] message() {
        message.clear();
        int i = messageFrom;
        while (i < to) {
            int control = controlCharacter(i);
            message.put(control < 0 ? in[i] : (byte) control);
            i += control < 0 ? 1 : 4;
        }
        return message.bytes;
    }

    public int messageLength() {
        return message.length;
    }

    /** Returns the character that {@code #012} encodes, or -1. */
    private int controlCharacter(int i) {
        if (in[i] != '#' || i + 4 > to || in[i + 1] != '0') {
            return -1;
        }
        int high = in[i + 2] - '0';
        int low = in[i + 3] - '0';
        return high >= 0 && high < 4 && low >= 0 && low < 8 ? high * 8 + low : -1;
    }
}
