package io.tailrace.tags;

import io.tailrace.lexer.ByteText;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads tags from a comment. A comment contains tags only if all of it consists of pairs:
 *
 * <ul>
 *   <li>{@code key='value',…}, both URL-encoded, quotes within a value escaped: sqlcommenter, Rails 7.1, Datadog
 *   <li>{@code key:value,…} and {@code key=value,…}: marginalia, Rails 7.0
 * </ul>
 *
 * Not thread-safe.
 */
public final class TagReader {

    /** Longest value that is stored, in bytes before decoding; tags of this length or more are dropped. */
    private static final int MAX_VALUE_LENGTH = 256;

    private static final int MAX_KEY_LENGTH = 64;
    /** Maximum number of pairs in a comment; a comment with more contains no tags. */
    private static final int MAX_PAIRS = 64;

    private static final int TRACEPARENT_LENGTH = 55;
    private static final int TRACE_FROM = 3;
    private static final int SPAN_FROM = 36;
    private static final int FLAGS_FROM = 53;

    private final Map<String, String> tags = new HashMap<>();
    private final Map<String, String> pairs = new HashMap<>();
    private String traceId;
    private String spanId;
    private byte[] bytes;
    private int next;
    private int to;

    /** Discards the tags of the previous statement. */
    public void start() {
        tags.clear();
        traceId = "";
        spanId = "";
    }

    /** Adds the tags of the comment {@code /* … *&#47;} in the range. The first comment with a key wins. */
    public void comment(byte[] text, int from, int end) {
        bytes = text;
        next = from + 2;
        to = end - 2;
        pairs.clear();
        if (arePairs()) {
            pairs.forEach(this::keep);
        }
        bytes = null;
    }

    /** Returns the tags of all comments of the statement. */
    public StatementTags tags() {
        return tags.isEmpty() && traceId.isEmpty() ? StatementTags.NONE : new StatementTags(tags, traceId, spanId);
    }

    private void keep(String key, String text) {
        if (TagKeys.TRACEPARENT.equals(key)) {
            trace(text);
        } else if (TagKeys.isKnown(key)) {
            String plain = withoutMethod(text);
            if (isPlain(plain)) {
                tags.putIfAbsent(key, plain);
            }
        }
    }

    /**
     * Removes the method from Ruby's {@code app/models/a.rb:12:in `find'}; its quotes depend on the version of Ruby.
     */
    private static String withoutMethod(String text) {
        int method = text.indexOf(":in ");
        return method < 0 ? text : text.substring(0, method);
    }

    private static boolean isPlain(String text) {
        return !text.isEmpty()
                && text.length() < MAX_VALUE_LENGTH
                && text.chars().allMatch(c -> c >= ' ' && c != 0x7f && c != '\'' && c != '"' && c != '\ufffd');
    }

    /**
     * Parses {@code 00-<trace id>-<span id>-<flags>} of the W3C's Trace Context; ids that consist of zeros are
     * ignored.
     */
    private void trace(String text) {
        boolean shaped = text.length() == TRACEPARENT_LENGTH
                && isHex(text, 0, 2)
                && isHex(text, TRACE_FROM, SPAN_FROM - 1)
                && isHex(text, SPAN_FROM, FLAGS_FROM - 1)
                && isHex(text, FLAGS_FROM, TRACEPARENT_LENGTH);
        if (shaped && traceId.isEmpty()) {
            String trace = text.substring(TRACE_FROM, SPAN_FROM - 1);
            String span = text.substring(SPAN_FROM, FLAGS_FROM - 1);
            boolean known =
                    trace.chars().anyMatch(c -> c != '0') && span.chars().anyMatch(c -> c != '0');
            traceId = known ? trace : "";
            spanId = known ? span : "";
        }
    }

    /** Returns whether the range contains only lower-case hexadecimal digits and a hyphen or the end follows. */
    private static boolean isHex(String text, int from, int end) {
        for (int i = from; i < end; i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return end == text.length() || text.charAt(end) == '-';
    }

    private boolean arePairs() {
        for (int count = 0; count < MAX_PAIRS; count++) {
            skipBlanks();
            if (!pair()) {
                return false;
            }
            skipBlanks();
            if (next >= to) {
                return true;
            }
            if (bytes[next] != ',') {
                return false;
            }
            next++;
        }
        return false;
    }

    private void skipBlanks() {
        next = ByteText.skipBlanks(bytes, next, to);
    }

    private boolean pair() {
        int keyFrom = next;
        while (next < to && isOfKey(bytes[next])) {
            next++;
        }
        int keyTo = next;
        boolean valid = keyTo > keyFrom && keyTo - keyFrom <= MAX_KEY_LENGTH && keyTo < to;
        if (!valid || bytes[keyTo] != '=' && bytes[keyTo] != ':') {
            return false;
        }
        next++;
        boolean quoted = bytes[keyTo] == '=' && next < to && bytes[next] == '\'';
        String text = quoted ? quotedValue() : bareValue();
        if (text != null) {
            pairs.putIfAbsent(ByteText.utf8(bytes, keyFrom, keyTo), text);
        }
        return text != null;
    }

    private static boolean isOfKey(byte b) {
        return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '.' || b == '-' || ByteText.isDigit(b);
    }

    /** Returns a quoted value, or null if the closing quote is missing. */
    private String quotedValue() {
        int from = next + 1;
        int end = from;
        while (end < to && bytes[end] != '\'') {
            end += bytes[end] == '\\' ? 2 : 1;
        }
        if (end >= to) {
            return null;
        }
        next = end + 1;
        return decoded(from, end);
    }

    /** Returns a value up to the comma, without surrounding blanks. */
    private String bareValue() {
        int from = next;
        while (next < to && bytes[next] != ',') {
            next++;
        }
        return ByteText.utf8(bytes, from, ByteText.trimBlanks(bytes, from, next));
    }

    /** Returns the value with its escapes decoded; empty if it is too long. */
    private String decoded(int from, int end) {
        if (end - from > MAX_VALUE_LENGTH) {
            return "";
        }
        byte[] plain = new byte[end - from];
        int length = 0;
        int i = from;
        while (i < end) {
            int escaped = bytes[i] == '%' && i + 2 < end ? hex(i + 1) : -1;
            if (escaped >= 0) {
                plain[length++] = (byte) escaped;
                i += 3;
            } else {
                i += bytes[i] == '\\' ? 1 : 0;
                plain[length++] = bytes[i++];
            }
        }
        return ByteText.utf8(plain, 0, length);
    }

    private int hex(int i) {
        int high = Character.digit(bytes[i], 16);
        int low = Character.digit(bytes[i + 1], 16);
        return high < 0 || low < 0 ? -1 : high << 4 | low;
    }
}
