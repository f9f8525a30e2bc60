package io.tailrace.plan.reader;

import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.lexer.ByteText;
import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonArray;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.plan.json.JsonValue.JsonString;
import io.tailrace.plan.json.JsonValue.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Removes the literals from what servers print, with the lexer that is used for statements. If literals cannot be
 * identified with certainty, all text from the first quote on is removed. Not thread-safe.
 */
final class LiteralMask {

    private static final String UNKNOWN = "?";

    private final Fingerprinter fingerprinter = new Fingerprinter();
    /** The quotes of the latest text do not match. */
    private boolean doubtful;
    /** Names in the current document may be parts of a literal. */
    private boolean distrusts;

    /**
     *
     * @param distrusts whether only names that servers are known to write are kept in the next document; see {@link
     *     DocumentMask}
     */
    void distrust(boolean distrusts) {
        this.distrusts = distrusts;
    }

    /** Returns the name of an unknown member. */
    String name(String name) {
        return distrusts ? UNKNOWN : name;
    }

    /**
     * Returns a condition without literals. MariaDB prints SQL's escapes and does not escape them again for JSON;
     * MySQL does. The text is only reliable if both readings agree.
     */
    String condition(JsonValue value) {
        doubtful = false;
        if (!(value instanceof JsonString string)) {
            return value.text().isEmpty() ? "" : masked(value.text());
        }
        if (string.text().equals(string.written())) {
            return masked(string.text());
        }
        String decoded = masked(string.text());
        boolean agree = decoded.equals(masked(string.written()));
        doubtful |= !agree;
        return agree ? decoded : withoutQuoted(string.text());
    }

    /** Masks a text that contains values without escapes, such as the ranges of version 2. */
    String printedValues(JsonValue value) {
        String text = value.text();
        boolean plain = quotes(text) == 0 || isRange(text);
        return plain ? masked(text) : withoutQuoted(text);
    }

    /** Masks an unknown member. Its structure is kept, and those parts of its texts that are not literals. */
    JsonValue value(JsonValue value) {
        if (value instanceof JsonString string) {
            String masked = condition(string);
            // The start of a part of a condition may be the end of a literal.
            String safe = doubtful ? UNKNOWN : masked;
            return new JsonString(safe, safe);
        }
        if (value instanceof JsonArray array) {
            List<JsonValue> values = new ArrayList<>(array.values().size());
            for (JsonValue item : array.values()) {
                values.add(value(item));
            }
            return new JsonArray(values);
        }
        if (value instanceof JsonObject object) {
            List<Member> members = new ArrayList<>(object.members().size());
            for (Member member : object.members()) {
                members.add(new Member(name(member.name()), value(member.value())));
            }
            return new JsonObject(members);
        }
        return value;
    }

    /**
     * Returns whether the condition is {@code like '%…'}; afterwards this cannot be derived from the masked literal.
     */
    static boolean hasLeadingWildcard(JsonValue value) {
        String text = value instanceof JsonArray array
                ? array.values().stream().map(JsonValue::text).collect(Collectors.joining(" "))
                : value.text();
        return text.contains(" like '%") || text.contains(" like '_") || text.contains(" like (concat('%");
    }

    /** Returns a statement without literals. */
    String statement(String text) {
        return masked(text);
    }

    private String masked(String text) {
        byte[] bytes = ByteText.bytes(nullTestsAsWords(withoutSelectNumbers(text)));
        if (bytes.length == 0) {
            return "";
        }
        String masked = fingerprinter.masked(bytes, 0, bytes.length);
        doubtful |= fingerprinter.isDoubtful();
        return fingerprinter.isDoubtful() ? withoutQuoted(text) : withShortLists(wordsAsNullTests(masked));
    }

    /** Shortens {@code ?,?,?} to {@code ?, …}: the length of a list of literals is not relevant. */
    private static String withShortLists(String masked) {
        if (!masked.contains("?,?") && !masked.contains("?, ?")) {
            return masked;
        }
        StringBuilder out = new StringBuilder(masked.length());
        int i = 0;
        while (i < masked.length()) {
            char c = masked.charAt(i++);
            out.append(c);
            int more = c == '?' ? afterPlaceholders(masked, i) : i;
            if (more > i) {
                out.append(", …");
                i = more;
            }
        }
        return out.toString();
    }

    private static int afterPlaceholders(String text, int from) {
        int i = from;
        while (text.startsWith(",?", i) || text.startsWith(", ?", i)) {
            i += text.charAt(i + 1) == ' ' ? 3 : 2;
        }
        return i;
    }

    /** Protects tests for NULL: NULL is a literal, but {@code is not null} is kept. */
    private static String nullTestsAsWords(String text) {
        return text.indexOf("null") < 0
                ? text
                : text.replace(" is not null", " is_not_null").replace(" is null", " is_null");
    }

    private static String wordsAsNullTests(String masked) {
        return masked.indexOf("is_n") < 0
                ? masked
                : masked.replace(" is_not_null", " is not null").replace(" is_null", " is null");
    }

    /**
     * Removes the number sign of {@code select #2}, the number of a subquery, because in SQL it starts a comment to the
     * end of the line.
     */
    private static String withoutSelectNumbers(String text) {
        return text.indexOf("select #") < 0 ? text : text.replace("select #", "select ");
    }

    /** Returns the text before the first quote, because the ends of literals after it are unknown. */
    private String withoutQuoted(String text) {
        int first = firstQuote(text);
        byte[] head = ByteText.bytes(withoutSelectNumbers(text.substring(0, Math.max(0, first))));
        String masked = head.length == 0 ? "" : fingerprinter.masked(head, 0, head.length);
        return (fingerprinter.isDoubtful() ? "" : masked) + "?";
    }

    private static int firstQuote(String text) {
        int single = text.indexOf('\'');
        int twice = text.indexOf('"');
        return single < 0 || twice >= 0 && twice < single ? twice : single;
    }

    private static int quotes(String text) {
        return (int) text.chars().filter(c -> c == '\'' || c == '"').count();
    }

    /**
     * Returns whether the text is a range, such as {@code ('2024-01-01' <= created <= '2024-02-01')}. Two literals
     * around one name have no other reading if no text surrounds them; a single literal that contains two quotes
     * would follow a name.
     */
    private static boolean isRange(String text) {
        int first = text.indexOf('\'');
        int second = text.indexOf('\'', first + 1);
        int third = text.indexOf('\'', second + 1);
        int fourth = text.lastIndexOf('\'');
        if (quotes(text) == 2) {
            return second > first;
        }
        return quotes(text) == 4
                && third > second
                && text.substring(0, first).strip().equals("(")
                && text.substring(fourth + 1).strip().equals(")")
                && isBetweenLiterals(text.substring(second + 1, third));
    }

    /** Returns whether a comparison precedes and follows a name. */
    private static boolean isBetweenLiterals(String text) {
        String name = text.replaceFirst("^ <=? ", "").replaceFirst(" <=? $", "");
        boolean twice = name.length() <= text.length() - 2 * " < ".length();
        return twice && !name.isEmpty() && name.chars().allMatch(LiteralMask::isOfName);
    }

    private static boolean isOfName(int c) {
        return Character.isLetterOrDigit(c) || "_.`$".indexOf(c) >= 0;
    }
}
