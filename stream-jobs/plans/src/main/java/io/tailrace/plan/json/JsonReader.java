package io.tailrace.plan.json;

import io.tailrace.lexer.ByteText;
import io.tailrace.plan.json.JsonValue.JsonArray;
import io.tailrace.plan.json.JsonValue.JsonNumber;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.plan.json.JsonValue.JsonString;
import io.tailrace.plan.json.JsonValue.JsonWord;
import io.tailrace.plan.json.JsonValue.Member;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * Reads a document as servers write it. Reading never fails: invalid JSON is repaired and reported. The time is
 * linear in the size of the input. No recursion is used, because nesting is stored in a list. Not thread-safe.
 */
public final class JsonReader {

    /**
     * Maximum nesting of objects and arrays; deeper values are omitted. A plan of version 2 needs two levels for each
     * node.
     */
    public static final int MAX_DEPTH = 2100;

    /** Maximum number of levels that a path contains from either end. */
    private static final int MAX_PATH_LENGTH = 12;
    /** Maximum number of characters of a name in a path. */
    private static final int MAX_NAME_LENGTH = 64;

    /** Repairs of a document in which a quote was mistaken for the end of a text. */
    private static final Set<RepairKind> UNRELIABLE_QUOTES =
            Set.of(RepairKind.PUNCTUATION, RepairKind.BARE_WORD, RepairKind.UNESCAPED_QUOTE);

    private byte[] in;
    private int end;
    private int at;
    private Repairs repairs;
    private JsonStringReader strings;
    private final Deque<Level> levels = new ArrayDeque<>();

    /** An object or array that is open. */
    private static final class Level {
        final List<Member> members;
        final List<JsonValue> values;
        String name;
        /** A name and colon were read, but no value. */
        boolean awaitsValue;

        Level(boolean object) {
            members = object ? new ArrayList<>(8) : null;
            values = object ? null : new ArrayList<>(4);
        }

        boolean isObject() {
            return members != null;
        }

        void add(JsonValue value) {
            if (isObject()) {
                members.add(new Member(name, value));
                awaitsValue = false;
            } else {
                values.add(value);
            }
        }

        JsonValue value() {
            return isObject() ? new JsonObject(List.copyOf(members)) : new JsonArray(List.copyOf(values));
        }
    }

    /**
     * Reads the document that starts with the bracket at {@code from}; it ends with the bracket that closes it, or with
     * the input.
     */
    public JsonDocument read(byte[] bytes, int from, int to) {
        JsonDocument strict = read(bytes, from, to, true);
        return isTrusted(strict) ? strict : read(bytes, from, to, false);
    }

    /** Returns whether the quotes are reliable; only if not, the document is read a second time. */
    private boolean isTrusted(JsonDocument document) {
        return !document.doubtful()
                && UNRELIABLE_QUOTES.stream()
                        .noneMatch(kind -> document.repairs().count(kind) > 0);
    }

    private JsonDocument read(byte[] bytes, int from, int to, boolean strict) {
        in = bytes;
        end = to;
        at = from;
        repairs = new Repairs();
        strings = new JsonStringReader(bytes, to, strict, this::repair);
        levels.clear();
        JsonValue value = document();
        in = null;
        return new JsonDocument(value, from, at, repairs, strings.isDoubtful());
    }

    private JsonValue document() {
        skipBlanks();
        if (at == end || in[at] != '{' && in[at] != '[') {
            return at == end ? JsonValue.NULL : scalar();
        }
        open();
        skipBlanks();
        while (at < end) {
            JsonValue whole = step();
            if (whole != null) {
                return whole;
            }
            skipBlanks();
        }
        repair(RepairKind.TRUNCATED, end);
        return closeAll();
    }

    /** Reads one token; returns the document if it ends with this token. */
    private JsonValue step() {
        switch (in[at]) {
            case '{', '[' -> open();
            case '}', ']' -> {
                return close();
            }
            case ',' -> at++;
            case '"' -> string();
            default -> other();
        }
        return null;
    }

    private void open() {
        boolean object = in[at] == '{';
        Level level = levels.peek();
        if (level != null && level.isObject() && !level.awaitsValue) {
            repair(RepairKind.PUNCTUATION, at);
            at++;
            return;
        }
        if (levels.size() == MAX_DEPTH) {
            repair(RepairKind.TOO_DEEP, at);
            skipNested();
            return;
        }
        at++;
        levels.push(new Level(object));
    }

    private void skipNested() {
        int depth = 0;
        do {
            if (in[at] == '"') {
                at = strings.end(at, "");
            } else if (in[at] == '{' || in[at] == '[') {
                depth++;
            } else if (in[at] == '}' || in[at] == ']') {
                depth--;
            }
            at++;
        } while (at < end && depth > 0);
        at = Math.min(at, end);
        add(JsonValue.NULL);
    }

    /** Closes the level that a mismatched closing bracket was probably intended for, or none. */
    private JsonValue close() {
        boolean object = in[at] == '}';
        if (levels.peek().isObject() != object) {
            repair(RepairKind.PUNCTUATION, at);
            if (levels.size() == 1
                    || levels.stream().skip(1).findFirst().orElseThrow().isObject() != object) {
                at++;
                return null;
            }
            closeOne();
        }
        at++;
        return closeOne();
    }

    /** Closes the innermost level; returns it if it is the document. */
    private JsonValue closeOne() {
        Level level = levels.pop();
        if (level.awaitsValue) {
            level.add(JsonValue.NULL);
        }
        JsonValue value = level.value();
        if (levels.isEmpty()) {
            return value;
        }
        add(value);
        return null;
    }

    private JsonValue closeAll() {
        JsonValue value = JsonValue.NULL;
        while (!levels.isEmpty()) {
            value = closeOne();
        }
        return value;
    }

    private void add(JsonValue value) {
        levels.peek().add(value);
    }

    private void string() {
        Level level = levels.peek();
        boolean isName = level.isObject() && !level.awaitsValue;
        JsonString string = isName ? strings.name(at) : strings.value(at, member());
        at = strings.to();
        if (isName) {
            name(string.text());
        } else {
            add(string);
        }
    }

    /** Returns the name of the member that contains a value, also in a list. */
    private String member() {
        for (Level level : levels) {
            if (level.isObject()) {
                return level.name;
            }
        }
        return "";
    }

    private void name(String text) {
        Level level = levels.peek();
        level.name = text;
        level.awaitsValue = true;
        skipBlanks();
        if (at < end && in[at] == ':') {
            at++;
        } else {
            repair(RepairKind.PUNCTUATION, at);
        }
    }

    private void other() {
        Level level = levels.peek();
        if (in[at] == ':' || level.isObject() && !level.awaitsValue) {
            repair(RepairKind.PUNCTUATION, at);
            at = in[at] == ':' ? at + 1 : wordEnd();
        } else {
            add(scalar());
        }
    }

    private JsonValue scalar() {
        int from = at;
        at = wordEnd();
        String text = ByteText.utf8(in, from, at);
        if (isNumber(from)) {
            return new JsonNumber(text);
        }
        if (text.equals("null")) {
            return JsonValue.NULL;
        }
        if (text.equals("true") || text.equals("false")) {
            return new JsonWord(text);
        }
        repair(RepairKind.BARE_WORD, from);
        return new JsonString(text, text);
    }

    /** Returns whether the text is a number of JSON: digits, a sign, a fraction, an exponent. */
    private boolean isNumber(int from) {
        int i = from < at && in[from] == '-' ? from + 1 : from;
        int digits = digits(i);
        if (digits == i || in[i] == '0' && digits > i + 1) {
            return false;
        }
        i = digits;
        if (i < at && in[i] == '.') {
            digits = digits(i + 1);
            if (digits == i + 1) {
                return false;
            }
            i = digits;
        }
        if (i < at && (in[i] == 'e' || in[i] == 'E')) {
            i += i + 1 < at && (in[i + 1] == '+' || in[i + 1] == '-') ? 2 : 1;
            digits = digits(i);
            return digits > i && digits == at;
        }
        return i == at;
    }

    private int digits(int from) {
        int i = from;
        while (i < at && ByteText.isDigit(in[i])) {
            i++;
        }
        return i;
    }

    private int wordEnd() {
        int i = at + 1;
        while (i < end && !isBlank(in[i]) && ",:{}[]\"/".indexOf(in[i]) < 0) {
            i++;
        }
        return i;
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b == '\n' || b == '\t' || b == '\r';
    }

    private void skipBlanks() {
        while (at < end) {
            if (isBlank(in[at])) {
                at++;
            } else if (in[at] == '/' && at + 1 < end && in[at + 1] == '*') {
                comment();
            } else {
                return;
            }
        }
    }

    private void comment() {
        repair(RepairKind.COMMENT, at);
        int i = at + 2;
        while (i + 1 < end && !(in[i] == '*' && in[i + 1] == '/')) {
            i++;
        }
        at = i + 1 < end ? i + 2 : end;
    }

    private void repair(RepairKind kind, int offset) {
        repairs.add(kind, offset, repairs.wants(kind) ? path() : "");
    }

    /** Returns the path in the document. In deep documents it consists of the outermost and innermost names. */
    private String path() {
        StringBuilder path = new StringBuilder("$");
        Iterator<Level> outermostFirst = levels.descendingIterator();
        for (int depth = 0; outermostFirst.hasNext(); depth++) {
            Level level = outermostFirst.next();
            if (depth == MAX_PATH_LENGTH && levels.size() > 2 * MAX_PATH_LENGTH) {
                path.append('…');
            }
            if (depth < MAX_PATH_LENGTH || depth >= levels.size() - MAX_PATH_LENGTH) {
                append(path, level);
            }
        }
        return path.toString();
    }

    private static void append(StringBuilder path, Level level) {
        if (!level.isObject()) {
            path.append('[').append(level.values.size()).append(']');
        } else if (level.awaitsValue) {
            path.append('.').append(level.name.length() > MAX_NAME_LENGTH ? "…" : level.name);
        }
    }
}
