package io.tailrace.fingerprint.credential;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.SqlMode;
import io.tailrace.lexer.WordTable;

/**
 * Finds the end of a clause that begins with IDENTIFIED. Supports the syntax of MySQL 5.5 to 9 and MariaDB 10 to 12,
 * and what servers write into their logs in place of a password. A clause in any other form, or with unreliable
 * quotes, has no end. Not thread-safe.
 */
public final class PasswordClause {

    private enum Word {
        AND,
        AS,
        AUTHENTICATION,
        BY,
        CURRENT,
        IDENTIFIED,
        INITIAL,
        PASSWORD,
        RANDOM,
        REPLACE,
        RETAIN,
        SECRET,
        USING,
        VIA,
        WITH,
        OTHER
    }

    private static final WordTable<Word> WORDS = WordTable.ofNames(Word.values(), Word.OTHER);

    private final SqlMode mode;
    private final ConditionTokens tokens;

    public PasswordClause(SqlMode mode) {
        this.mode = mode;
        this.tokens = new ConditionTokens(mode);
    }

    /**
     * Returns the index of the token after the clause whose IDENTIFIED ends at {@code from}, or -1 if it is
     * uncertain.
     */
    public int end(byte[] bytes, int from, int to) {
        tokens.start(bytes, from, to);
        boolean certain = methods() && isAtEnd() && !tokens.hasVersions();
        return certain ? tokens.from() : -1;
    }

    private boolean isAtEnd() {
        return switch (tokens.kind()) {
            case END -> true;
            case STOP, NAME -> !tokens.isQuotedName();
            default -> is(',');
        };
    }

    /** Reads each of the factors that authenticate an account. */
    private boolean methods() {
        boolean more = true;
        while (more) {
            if (!method() || !endOfMethod()) {
                return false;
            }
            more = skip(Word.AND) || skip(Word.INITIAL) && skip(Word.AUTHENTICATION);
            if (more && !skip(Word.IDENTIFIED)) {
                return false;
            }
        }
        return true;
    }

    private boolean method() {
        if (skipPlaceholder()) {
            return true;
        }
        if (skip(Word.BY)) {
            return password();
        }
        if (!skip(Word.WITH) && !skip(Word.VIA)) {
            return false;
        }
        boolean plugin = plugin();
        while (plugin && tokens.kind() == Kind.OR) {
            tokens.next();
            plugin = plugin();
        }
        return plugin;
    }

    /** Reads {@code REPLACE 'old'} and {@code RETAIN CURRENT PASSWORD}. */
    private boolean endOfMethod() {
        boolean replaced = !skip(Word.REPLACE) || secret();
        boolean retained = !skip(Word.RETAIN) || skip(Word.CURRENT) && skip(Word.PASSWORD);
        return replaced && retained;
    }

    private boolean plugin() {
        boolean named = tokens.kind() == Kind.NAME && word() == Word.OTHER || tokens.kind() == Kind.PLACEHOLDER;
        if (!named && !isSoundText()) {
            return false;
        }
        tokens.next();
        boolean withPassword = skip(Word.BY) || skip(Word.AS) || skip(Word.USING);
        return !withPassword || password();
    }

    private boolean password() {
        if (skip(Word.RANDOM)) {
            return skip(Word.PASSWORD);
        }
        if (!skip(Word.PASSWORD)) {
            return secret();
        }
        if (tokens.kind() != Kind.OPEN) {
            return secret();
        }
        tokens.next();
        boolean secret = secret() && tokens.kind() == Kind.CLOSE;
        tokens.next();
        return secret;
    }

    private boolean skipPlaceholder() {
        boolean placeholder = tokens.kind() == Kind.PLACEHOLDER;
        if (placeholder) {
            tokens.next();
        }
        return placeholder;
    }

    private boolean secret() {
        boolean secret = isSoundText() || isSoundCode() || tokens.kind() == Kind.PLACEHOLDER;
        if (secret) {
            tokens.next();
            return true;
        }
        return is('<') ? maskedByMySql() : is('*') && maskedByMariaDb();
    }

    /** {@code <secret>} */
    private boolean maskedByMySql() {
        tokens.next();
        boolean secret = skip(Word.SECRET) && is('>');
        tokens.next();
        return secret;
    }

    /** {@code *****} */
    private boolean maskedByMariaDb() {
        int end = tokens.from();
        while (is('*') && tokens.from() == end) {
            end = tokens.end();
            tokens.next();
        }
        // A partly masked password continues directly after the asterisks.
        return tokens.from() > end || tokens.kind() == Kind.END || is(',') || is(';');
    }

    private boolean isSoundText() {
        return tokens.kind() == Kind.TEXT && tokens.isSound() && !holdsBackslash();
    }

    private boolean isSoundCode() {
        return tokens.kind() == Kind.CODED && tokens.isClosed() && !holdsBackslash() && !isGlued();
    }

    private boolean isGlued() {
        return NoBreakSpace.isWordAt(tokens.bytes(), tokens.end(), tokens.limit());
    }

    /**
     * Returns whether the token contains a backslash. No log shows whether it is an ordinary character or affects the
     * literal's end.
     */
    private boolean holdsBackslash() {
        int end = ByteText.firstOf(tokens.bytes(), tokens.from(), tokens.end(), (byte) '\\', (byte) '\\');
        return end < tokens.end() && !mode.noBackslashEscapes();
    }

    private boolean is(char symbol) {
        return tokens.end() == tokens.from() + 1 && tokens.bytes()[tokens.from()] == symbol;
    }

    private Word word() {
        Word word = WORDS.get(tokens.bytes(), tokens.from(), tokens.end());
        return word == null ? Word.OTHER : word;
    }

    private boolean skip(Word wanted) {
        boolean is = word() == wanted;
        if (is) {
            tokens.next();
        }
        return is;
    }
}
