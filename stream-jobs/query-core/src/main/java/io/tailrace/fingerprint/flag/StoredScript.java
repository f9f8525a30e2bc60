package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.regex.Pattern;

/**
 * Detects texts that a statement stores and that a browser runs if an application shows them without escaping: the first half
 * of stored cross-site scripting (OWASP). These are script elements, event handlers of elements and addresses of the scheme
 * {@code javascript}. Markup without code is none of them. Not thread-safe.
 */
public final class StoredScript {

    private static final byte[] INSERT = ByteText.ascii("insert");
    private static final byte[] REPLACE = ByteText.ascii("replace");
    private static final byte[] UPDATE = ByteText.ascii("update");
    private static final byte[] SCHEME = ByteText.ascii("javascript");

    /** Length of a text that is inspected, bytes. */
    private static final int MAX_LENGTH = 16 << 10;

    private static final Pattern SCRIPT = Pattern.compile("(?i)<script[\\s/>]"
            + "|<[a-z][^<>]{0,500}[\\s/\"'\\\\]on[a-z]{3,24}\\s{0,5}=\\s{0,5}[\"'\\\\a-z(\\[{]"
            + "|(?:(?:href|src|action|data)\\s{0,5}=[\"'\\\\\\s]{0,5}|^[\"'\\s]{1,5})javascript:");

    private final ConditionTokens tokens;

    public StoredScript(SqlMode mode) {
        tokens = new ConditionTokens(mode);
    }

    /** Returns whether an INSERT, REPLACE or UPDATE contains such a text. */
    public boolean isIn(byte[] bytes, int from, int to) {
        tokens.start(bytes, from, to);
        boolean stores = tokens.is(INSERT) || tokens.is(REPLACE) || tokens.is(UPDATE);
        if (!stores || !mayContain(bytes, from, to)) {
            return false;
        }
        while (tokens.kind() != Kind.END) {
            if (tokens.kind() == Kind.TEXT && SCRIPT.matcher(text()).find()) {
                return true;
            }
            tokens.next();
        }
        return false;
    }

    /** Returns whether the statement contains the start of an element or of an address of the scheme. */
    private static boolean mayContain(byte[] bytes, int from, int to) {
        for (int i = from; i < to - 1; i++) {
            boolean element = bytes[i] == '<' && isLetter(bytes[i + 1]);
            if (element || bytes[i] == ':' && endsWithScheme(bytes, from, i)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isLetter(byte b) {
        return ByteText.lower(b) >= 'a' && ByteText.lower(b) <= 'z';
    }

    private static boolean endsWithScheme(byte[] bytes, int from, int end) {
        int start = end - SCHEME.length;
        if (start < from) {
            return false;
        }
        for (int i = 0; i < SCHEME.length; i++) {
            if (ByteText.lower(bytes[start + i]) != SCHEME[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns the literal with its quotation marks, as it is written. */
    private String text() {
        return ByteText.utf8(tokens.bytes(), tokens.from(), Math.min(tokens.end(), tokens.from() + MAX_LENGTH));
    }
}
