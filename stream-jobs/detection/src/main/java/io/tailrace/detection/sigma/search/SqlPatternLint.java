package io.tailrace.detection.sigma.search;

import io.tailrace.detection.sigma.yaml.Scalar;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Detects SQL characters that a rule's author most likely meant literally, but that Sigma or a regular expression
 * interprets: the star of {@code select *}, a comment's mark, the question mark in fingerprints. It checks only texts
 * about statements; a wildcard within or after words is assumed to be intended.
 */
final class SqlPatternLint {

    private static final String FIELD = "statement";
    /** Words before a star that means all columns, and words after it. */
    private static final Pattern COLUMNS_BEFORE =
            Pattern.compile("(?is).*(\\b(select|distinct|all|sql_no_cache|returning)|,|\\*/) $");

    private static final Pattern COLUMNS_BEHIND = Pattern.compile("(?is) (from|into)\\b.*");

    /** The same in a regular expression, where the star repeats the blank before it. */
    private static final Pattern REGEX_STAR =
            Pattern.compile("(?is)\\b(select|distinct|sql_no_cache|returning) \\*( |,|$)|\\bon \\*\\.\\*");

    private final String text;
    private final boolean openStart;
    private final boolean openEnd;

    private SqlPatternLint(String text, boolean openStart, boolean openEnd) {
        this.text = text;
        this.openStart = openStart;
        this.openEnd = openEnd;
    }

    /** Returns a warning about a value; empty if there is none. */
    static Optional<String> of(String field, ModifierChain chain, Scalar value) {
        if (!field.equals(FIELD) || !(value instanceof Scalar.Text)) {
            return Optional.empty();
        }
        if (chain.has(Modifier.RE)) {
            return ofRegex(value.written());
        }
        boolean contains = chain.has(Modifier.CONTAINS);
        return new SqlPatternLint(
                        value.written(),
                        contains || chain.has(Modifier.ENDSWITH),
                        contains || chain.has(Modifier.STARTSWITH))
                .first();
    }

    private static Optional<String> ofRegex(String source) {
        if (REGEX_STAR.matcher(source).find()) {
            return Optional.of(
                    "in a regular expression * repeats the blank before it; to match the character itself, write \\*");
        }
        boolean ofClass = false;
        for (int i = 0; i + 1 < source.length(); i++) {
            char c = source.charAt(i);
            ofClass = c == '[' || ofClass && c != ']';
            if (!ofClass && c == '/' && source.charAt(i + 1) == '*') {
                return Optional.of(
                        "in a regular expression * repeats the / before it; to match the character itself, write /\\*");
            }
            i += c == '\\' ? 1 : 0;
        }
        return Optional.empty();
    }

    private Optional<String> first() {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && "*?\\".indexOf(at(i + 1)) >= 0) {
                i++;
            } else if (c == '\\') {
                return Optional.of("a backslash is a literal character unless *, ? or a backslash follows"
                        + "; fingerprints contain no backslash outside of literals");
            } else if (c == '*' && isStar(i)) {
                return Optional.of("* matches any characters here; to match the character itself, write \\*");
            } else if (c == '?' && !(isWord(at(i - 1)) && isWord(at(i + 1)))) {
                return Optional.of(
                        "? matches any one character here; to match the placeholder of a literal, write \\?");
            }
        }
        return Optional.empty();
    }

    /** Returns whether the star at this index most likely belongs to SQL. */
    private boolean isStar(int place) {
        char before = at(place - 1);
        char behind = at(place + 1);
        if (before == '/' || behind == '/' || before == '(' && behind == ')' || before == '.' || behind == '.') {
            return true;
        }
        if (place == 0) {
            return openStart && behind == ' ';
        }
        boolean afterColumns = COLUMNS_BEFORE.matcher(text.substring(0, place)).matches();
        if (place == text.length() - 1) {
            return before == ' ' && (openEnd || afterColumns);
        }
        return before == ' '
                && (afterColumns
                        || COLUMNS_BEHIND.matcher(text.substring(place + 1)).matches());
    }

    /** Returns the character at an index; 0 outside of the text. */
    private char at(int place) {
        return place < 0 || place >= text.length() ? 0 : text.charAt(place);
    }

    private static boolean isWord(char c) {
        return c == '_' || Character.isLetterOrDigit(c);
    }
}
