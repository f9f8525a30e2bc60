package io.tailrace.plan.json;

import io.tailrace.lexer.ByteText;
import io.tailrace.plan.json.JsonValue.JsonString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;

/**
 * Reads strings. The end of a string may be ambiguous, because MariaDB does not escape the double quotes of literals
 * in conditions. Unless the document is strict, a quote ends a text only outside of SQL's own quotes, and only if
 * what follows is valid there.
 */
final class JsonStringReader {

    /** Receives the repairs with their offsets in bytes. */
    interface Report {
        void repair(RepairKind kind, int offset);
    }

    /** Members whose texts are names, not SQL. */
    private static final Set<String> NAMES = Set.of(
            "table_name",
            "schema_name",
            "alias",
            "key",
            "index_name",
            "used_columns",
            "possible_keys",
            "used_key_parts",
            "key_columns",
            "ref",
            "partitions",
            "keys");

    /**
     * Text that MySQL writes in place of a plan that is not ready (sql/opt_explain.cc). Its apostrophe is not an SQL
     * quote.
     */
    private static final String NO_PLAN_YET = "Plan isn't ready yet";

    private static final byte[] NO_PLAN_YET_BYTES = (NO_PLAN_YET + '"').getBytes(StandardCharsets.US_ASCII);

    /** Longest name of a member that is searched for after a comma, bytes. */
    private static final int MAX_NAME_LENGTH = 64;

    private final byte[] in;
    private final int end;
    private final boolean strict;
    private final Report report;
    private int to;
    private boolean doubtful;
    /** A quote of SQL was open at the end of the search for the end of a text. */
    private boolean openAtEnd;
    /**
     * Number of bytes that were searched without success. It is limited to the size of the input, so that the time is
     * linear.
     */
    private long searched;

    /** @param strict whether each text ends with the first quote that no backslash escapes */
    JsonStringReader(byte[] in, int end, boolean strict, Report report) {
        this.in = in;
        this.end = end;
        this.strict = strict;
        this.report = report;
    }

    /** Returns the offset after the latest string. */
    int to() {
        return to;
    }

    /**
     * Returns whether a text ended within one of its literals: a quote in the literal may have been mistaken for the
     * end of the text, and later text may belong to the literal.
     */
    boolean isDoubtful() {
        return doubtful;
    }

    /** Reads the name of a member, whose first quote is at {@code from}. */
    JsonString name(int from) {
        return string(from, plainEnd(from));
    }

    /**
     * Reads the value whose first quote is at {@code from}.
     *
     * @param member name of the member that contains the value
     */
    JsonString value(int from, String member) {
        JsonString string = string(from, end(from, member));
        boolean sql = strict
                && string.text().indexOf('\'') >= 0
                && !NAMES.contains(member)
                && !string.text().equals(NO_PLAN_YET);
        doubtful |= sql && !isWhole(string.text()) && !isWhole(string.written());
        return string;
    }

    private JsonString string(int from, int quote) {
        to = Math.min(end, quote + 1);
        return decode(from + 1, quote);
    }

    /** Returns the offset of the quote that ends a value, or that of the input's end. */
    int end(int from, String member) {
        if (strict) {
            return plainEnd(from);
        }
        if (isNoPlanYet(from + 1)) {
            return from + NO_PLAN_YET_BYTES.length;
        }
        boolean sql = !NAMES.contains(member);
        if (sql && searched <= end) {
            int quote = sqlEnd(from);
            if (quote < end && in[quote] == '"') {
                return quote;
            }
            searched += quote - from;
            doubtful |= openAtEnd;
        }
        int quote = plainEnd(from);
        while (quote < end && !mayEnd(quote)) {
            quote = plainEnd(quote);
        }
        doubtful |= sql && searched > end;
        return quote;
    }

    private boolean isNoPlanYet(int from) {
        int to = from + NO_PLAN_YET_BYTES.length;
        return to <= end && Arrays.equals(in, from, to, NO_PLAN_YET_BYTES, 0, NO_PLAN_YET_BYTES.length);
    }

    /** Returns whether all quotes of SQL are closed. */
    private static boolean isWhole(String sql) {
        char open = 0;
        for (int i = 0; i < sql.length(); i++) {
            char c = sql.charAt(i);
            if (c == '\\') {
                i++;
            } else if (open != 0) {
                open = c == open ? 0 : open;
            } else if (c == '\'' || c == '`') {
                open = c;
            }
        }
        return open == 0;
    }

    /** Returns the offset of the next quote that no backslash escapes. */
    private int plainEnd(int from) {
        int i = from + 1;
        while (i < end && in[i] != '"') {
            i += in[i] == '\\' ? 2 : 1;
        }
        return Math.min(i, end);
    }

    /**
     * Returns the offset of the next quote on this line that may end a string and is outside of SQL's quotes;
     * otherwise the end of the line or of the input.
     */
    private int sqlEnd(int from) {
        byte open = 0;
        int i = from + 1;
        for (; i < end && in[i] != '\n'; i++) {
            byte b = in[i];
            if (b == '\\') {
                i++;
            } else if (open != 0) {
                open = b == open ? 0 : open;
            } else if (b == '\'' || b == '`') {
                open = b;
            } else if (b == '"' && mayEnd(i)) {
                openAtEnd = false;
                return i;
            }
        }
        openAtEnd = open != 0;
        return Math.min(i, end);
    }

    /** Returns whether the end of the enclosing value, or a comma and the next value, follows a quote. */
    private boolean mayEnd(int quote) {
        int i = skipBlanks(quote + 1);
        if (i >= end || in[i] == '}' || in[i] == ']') {
            return true;
        }
        if (in[i] != ',') {
            return in[i] == '/' && i + 1 < end && in[i + 1] == '*';
        }
        i = skipBlanks(i + 1);
        return i >= end || (in[i] == '"' ? isNameOrValue(i) : "{[-0123456789tfn".indexOf(in[i]) >= 0);
    }

    /** Returns whether a name and a colon, or what may be an item of a list, follows. */
    private boolean isNameOrValue(int quote) {
        int last = Math.min(end, quote + 2 + MAX_NAME_LENGTH);
        int i = quote + 1;
        while (i < last && in[i] != '"' && in[i] != '\n') {
            i++;
        }
        if (i >= last || in[i] != '"') {
            return true;
        }
        int next = skipBlanks(i + 1);
        return next >= end || ":,]".indexOf(in[next]) >= 0;
    }

    private int skipBlanks(int from) {
        int i = from;
        while (i < end && (in[i] == ' ' || in[i] == '\n' || in[i] == '\t' || in[i] == '\r')) {
            i++;
        }
        return i;
    }

    private JsonString decode(int from, int quote) {
        String written = text(from, quote);
        boolean plain = true;
        for (int i = from; i < quote && plain; i++) {
            plain = in[i] != '\\' && in[i] != '"' && (in[i] < 0 || in[i] >= ' ');
        }
        return new JsonString(plain ? written : decoded(from, quote), written);
    }

    private String text(int from, int to) {
        String text = ByteText.utf8(in, from, to);
        int replaced = text.indexOf('\ufffd');
        if (replaced >= 0) {
            report.repair(RepairKind.INVALID_UTF8, from);
        }
        return text;
    }

    private String decoded(int from, int quote) {
        StringBuilder out = new StringBuilder(quote - from);
        int copied = from;
        int i = from;
        while (i < quote) {
            byte b = in[i];
            if (b == '\\' && i + 1 < quote) {
                out.append(ByteText.utf8(in, copied, i));
                i = escape(i, quote, out);
                copied = i;
            } else {
                unusual(b, i);
                i++;
            }
        }
        return out.append(ByteText.utf8(in, copied, quote)).toString();
    }

    private void unusual(byte b, int offset) {
        if (b == '"') {
            report.repair(RepairKind.UNESCAPED_QUOTE, offset);
        } else if (b >= 0 && b < ' ') {
            report.repair(RepairKind.CONTROL_CHARACTER, offset);
        }
    }

    /** Appends the character of an escape; returns the offset after it. */
    private int escape(int backslash, int quote, StringBuilder out) {
        int kind = "\"\\/bfnrt".indexOf(in[backslash + 1]);
        if (kind >= 0) {
            out.append("\"\\/\b\f\n\r\t".charAt(kind));
            return backslash + 2;
        }
        int code = in[backslash + 1] == 'u' ? hex(backslash + 2, quote) : -1;
        if (code >= 0) {
            out.append((char) code);
            return backslash + 6;
        }
        report.repair(RepairKind.INVALID_ESCAPE, backslash);
        out.append('\\');
        return backslash + 1;
    }

    private int hex(int from, int quote) {
        int code = 0;
        for (int i = from; i < from + 4; i++) {
            int digit = i < quote ? Character.digit(in[i], 16) : -1;
            if (digit < 0) {
                return -1;
            }
            code = code << 4 | digit;
        }
        return code;
    }
}
