package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.regex.Pattern;

/**
 * Detects texts that a statement stores and that change another statement which an application later assembles from them:
 * the first half of a second-order injection. Such a text closes a literal and continues with SQL. Not thread-safe.
 */
public final class StoredInjection {

    private static final byte[] INSERT = ByteText.ascii("insert");
    private static final byte[] REPLACE = ByteText.ascii("replace");
    private static final byte[] UPDATE = ByteText.ascii("update");

    /** Length of a text that is inspected, bytes. */
    private static final int MAX_LENGTH = 1_024;

    private static final String CLOSING = "['\"][\\s)]*";
    private static final String JOINED = "(?:\\b(?:and|or|xor)\\b|\\|\\||&&)\\s*";
    private static final String VALUE = "['\"]?\\w*";
    /** What follows the quotation mark that closes the other statement's literal. */
    private static final Pattern CONTINUATION = Pattern.compile("(?i)" + CLOSING + "(?:"
            + "\\bunion\\s+(?:all\\s+|distinct\\s+)?select\\b"
            + "|;\\s*(?:delete\\s+from|insert\\s+into|update\\s+[`\\w.]+\\s+set|grant\\s+\\w+\\s+(?:on|to)"
            + "|(?:drop|alter|create|truncate)\\s+(?:table|database|schema|user|view|trigger|event))\\b"
            + "|" + JOINED + "\\(?\\s*(?:select|sleep|benchmark|extractvalue|updatexml)\\s*[( ]"
            + "|" + JOINED + VALUE + "['\"]?\\s*(?:=|\\blike\\b)\\s*" + VALUE + "(?:$|['\"]?\\s*(?:--|#)))");
    /** Continues as an UPDATE's next assignment, if a comment at the end hides the rest. */
    private static final Pattern ASSIGNMENT = Pattern.compile(CLOSING + ",\\s*[`\\w.]+\\s*=[^=]");
    /** The rest of the other statement becomes a comment: {@code admin'-- }. */
    private static final Pattern CUT = Pattern.compile("[^'\"]*" + CLOSING + "(?:--[\\s-]*|#\\s*|/\\*)");

    /** First bytes of what may follow a closing quotation mark in the patterns. */
    private static final String CONTINUES = "u;|&aox,-#/";

    private static final Pattern COMMENT = Pattern.compile("--|#|/\\*");

    private final ConditionTokens tokens;

    public StoredInjection(SqlMode mode) {
        tokens = new ConditionTokens(mode);
    }

    /** Returns whether an INSERT, REPLACE or UPDATE contains such a text. */
    public boolean isIn(byte[] bytes, int from, int to) {
        tokens.start(bytes, from, to);
        if (!tokens.is(INSERT) && !tokens.is(REPLACE) && !tokens.is(UPDATE)) {
            return false;
        }
        while (tokens.kind() != Kind.END) {
            if (tokens.kind() == Kind.TEXT && mayContinue() && isInjection()) {
                return true;
            }
            tokens.next();
        }
        return false;
    }

    /** Returns whether a quotation mark precedes a byte with which SQL continues. Most texts with apostrophes have none. */
    private boolean mayContinue() {
        byte[] bytes = tokens.bytes();
        int to = Math.min(tokens.end() - 1, tokens.from() + MAX_LENGTH);
        boolean afterQuote = false;
        for (int i = tokens.from() + 1; i < to; i++) {
            byte b = bytes[i];
            boolean quote = b == '\'' || b == '"';
            if (afterQuote && CONTINUES.indexOf(ByteText.lower(b)) >= 0) {
                return true;
            }
            afterQuote = quote || afterQuote && (b == ')' || b == '\\' || ByteText.isBlank(b));
        }
        return false;
    }

    private boolean isInjection() {
        String text = text();
        return CONTINUATION.matcher(text).find()
                || CUT.matcher(text).matches()
                || endsWithComment(text) && ASSIGNMENT.matcher(text).find();
    }

    /** Returns whether a comment begins at the end of the text or before blanks and dashes. */
    private static boolean endsWithComment(String text) {
        String stripped = text.stripTrailing();
        return COMMENT.matcher(stripped.substring(Math.max(0, stripped.length() - 4)))
                .find();
    }

    /** Returns the text as the server stores it. */
    private String text() {
        int from = tokens.from() + 1;
        int to = Math.min(Math.max(from, tokens.end() - 1), from + MAX_LENGTH);
        char quote = (char) tokens.bytes()[from - 1];
        String written = ByteText.utf8(tokens.bytes(), from, to);
        StringBuilder text = new StringBuilder(written.length());
        for (int i = 0; i < written.length(); i++) {
            char c = written.charAt(i);
            boolean escape = (c == '\\' || c == quote) && i + 1 < written.length();
            text.append(escape ? written.charAt(++i) : c);
        }
        return text.toString();
    }
}
