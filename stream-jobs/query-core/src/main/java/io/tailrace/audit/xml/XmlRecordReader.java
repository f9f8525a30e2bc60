package io.tailrace.audit.xml;

import io.tailrace.audit.record.MemberHandler;
import io.tailrace.audit.record.MemberPath;
import io.tailrace.audit.record.RecordResult;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ValueBuffer;

/**
 * Reads one {@code AUDIT_RECORD}, old style (attributes) or new style (elements), member by member under lower-case
 * names. The names of nested elements include those of their parents: {@code connection_attributes.attribute.name}.
 * The reader is more tolerant than an XML parser: it accepts and records control characters, which the plugins of 5.6
 * and 5.7 do not escape, and quotation marks that do not end an attribute. Not thread-safe.
 */
public final class XmlRecordReader {

    private static final int MAX_DEPTH = 8;
    private static final int MAX_ENTITY_LENGTH = 10;
    private static final int MAX_NAME_LENGTH = 64;
    private static final byte[] OPENING = ByteText.ascii("<AUDIT_RECORD");

    private final ValueBuffer value = new ValueBuffer();
    private final MemberPath path = new MemberPath();
    private MemberHandler out;
    private byte[] in;
    private int at;
    private int to;
    private boolean cut;
    private boolean repaired;

    /** Returns whether the record contained characters that XML does not allow. */
    public boolean isRepaired() {
        return repaired;
    }

    /** Returns the index after the latest record. */
    int end() {
        return at;
    }

    public RecordResult read(byte[] bytes, int from, int end, MemberHandler members) {
        in = bytes;
        at = ByteText.skipBlanks(bytes, from, end);
        to = end;
        out = members;
        cut = false;
        repaired = false;
        path.truncate(0);
        boolean whole = ByteText.startsWith(bytes, at, end, OPENING) && record();
        boolean alone = whole && ByteText.skipBlanks(bytes, at, end) == end;
        in = null;
        out = null;
        return alone ? RecordResult.WHOLE : cut ? RecordResult.CUT : RecordResult.MALFORMED;
    }

    private boolean record() {
        at += OPENING.length;
        while (true) {
            int b = peek();
            if (b == '/') {
                at++;
                return peek() == '>' && at++ >= 0;
            }
            if (b == '>') {
                at++;
                return content(1);
            }
            if (b < 0 || !attribute()) {
                return false;
            }
        }
    }

    private int peek() {
        at = ByteText.skipBlanks(in, at, to);
        cut |= at == to;
        return at == to ? -1 : in[at];
    }

    /** Reads {@code NAME="value"}. */
    private boolean attribute() {
        int nameFrom = at;
        while (at < to && isName(in[at])) {
            at++;
        }
        int nameTo = at;
        if (nameTo == nameFrom || peek() != '=') {
            return false;
        }
        at++;
        if (peek() != '"') {
            return false;
        }
        int valueFrom = ++at;
        while (at < to && (in[at] != '"' || !endsAttribute(at + 1))) {
            repaired |= in[at] == '"';
            at++;
        }
        if (at == to) {
            cut = true;
            return false;
        }
        emit(nameFrom, nameTo, valueFrom, at++);
        return true;
    }

    /**
     * Returns whether a quotation mark ends an attribute: the tag's end or another name must follow, because
     * STARTUP_OPTIONS may contain unescaped quotation marks.
     */
    private boolean endsAttribute(int after) {
        int i = ByteText.skipBlanks(in, after, to);
        if (i == to || in[i] == '>' || in[i] == '/' && i + 1 < to && in[i + 1] == '>') {
            return true;
        }
        int name = i;
        while (i < to && i - name < MAX_NAME_LENGTH && (in[i] >= 'A' && in[i] <= 'Z' || in[i] == '_')) {
            i++;
        }
        return i > name && i < to && in[i] == '=' && name > after;
    }

    private static boolean isName(byte b) {
        byte lower = ByteText.lower(b);
        return lower >= 'a' && lower <= 'z' || b == '_' || b == '-' || ByteText.isDigit(b);
    }

    /** Reads elements up to the closing tag of their parent. */
    private boolean content(int depth) {
        while (depth < MAX_DEPTH) {
            if (peek() != '<') {
                return false;
            }
            at++;
            if (at < to && in[at] == '/') {
                return closingTag();
            }
            if (!element(depth)) {
                return false;
            }
        }
        return false;
    }

    private boolean closingTag() {
        while (at < to && in[at] != '>') {
            at++;
        }
        cut |= at == to;
        return at++ < to;
    }

    private boolean element(int depth) {
        int nameFrom = at;
        while (at < to && isName(in[at])) {
            at++;
        }
        int nameTo = at;
        boolean empty = false;
        while (at < to && in[at] != '>') {
            empty = in[at++] == '/';
        }
        if (at == to || nameTo == nameFrom) {
            cut |= at == to;
            return false;
        }
        int valueFrom = ++at;
        if (empty) {
            emit(nameFrom, nameTo, valueFrom, valueFrom);
            return true;
        }
        while (at < to && in[at] != '<') {
            at++;
        }
        if (at + 1 >= to) {
            cut = true;
            return false;
        }
        if (in[at + 1] == '/') {
            emit(nameFrom, nameTo, valueFrom, at);
            return closingTag();
        }
        int outer = path.length();
        path.enterLowerCase(in, nameFrom, nameTo);
        boolean read = content(depth + 1);
        path.truncate(outer);
        return read;
    }

    private void emit(int nameFrom, int nameTo, int valueFrom, int valueTo) {
        int outer = path.length();
        path.enterLowerCase(in, nameFrom, nameTo);
        unescape(valueFrom, valueTo);
        out.member(path.name(), value.bytes, value.length);
        path.truncate(outer);
    }

    private void unescape(int from, int end) {
        value.clear();
        int i = from;
        while (i < end) {
            byte b = in[i];
            if (b == '&') {
                i = entity(i, end);
            } else {
                repaired |= b >= 0 && b < ' ' && !ByteText.isBlank(b);
                value.put(b);
                i++;
            }
        }
    }

    /**
     * Decodes the entity at {@code from} and returns the index after it; an ampersand that starts no entity is kept.
     */
    private int entity(int from, int end) {
        int semicolon = from + 1;
        int last = Math.min(end, from + MAX_ENTITY_LENGTH);
        while (semicolon < last && in[semicolon] != ';') {
            semicolon++;
        }
        int code = semicolon < last ? code(from + 1, semicolon) : -1;
        if (code < 0) {
            value.put((byte) '&');
            return from + 1;
        }
        value.putCharacter(code);
        return semicolon + 1;
    }

    private int code(int from, int semicolon) {
        if (in[from] == '#') {
            return number(from + 1, semicolon);
        }
        return switch (ByteText.utf8(in, from, semicolon)) {
            case "lt" -> '<';
            case "gt" -> '>';
            case "amp" -> '&';
            case "quot" -> '"';
            case "apos" -> '\'';
            default -> -1;
        };
    }

    private int number(int from, int semicolon) {
        boolean hexadecimal = from < semicolon && (in[from] == 'x' || in[from] == 'X');
        int i = hexadecimal ? from + 1 : from;
        int code = i < semicolon ? 0 : -1;
        while (i < semicolon) {
            int digit = Character.digit(in[i++], hexadecimal ? 16 : 10);
            if (digit < 0) {
                return -1;
            }
            code = code * (hexadecimal ? 16 : 10) + digit;
        }
        return code;
    }
}
