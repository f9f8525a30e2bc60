package io.tailrace.fingerprint.mask;

import io.tailrace.fingerprint.account.AccountGrammar;
import io.tailrace.fingerprint.account.PrivilegeListLookahead;
import io.tailrace.fingerprint.credential.PasswordClause;
import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.SqlMode;

/**
 * Writes names of accounts and masks their passwords. The grammar of account statements checks each token; from a password
 * on, text that does not fit it is omitted. Not thread-safe.
 */
final class AccountMask {

    private static final byte[] PASSWORD = ByteText.ascii("password");
    private static final byte[] IDENTIFIED = ByteText.ascii("identified");
    private static final byte[] FOR = ByteText.ascii("for");
    /** Maximum length of a list of privileges that is searched, bytes. */
    private static final int FARTHEST = 1 << 16;

    private final MaskedText text;
    private final LiteralReader literals;
    private final boolean namesKept;
    private final AccountGrammar grammar = new AccountGrammar();
    private final NamePart part;
    private final PasswordClause passwords;
    private final ConditionTokens ahead;
    /** Whether the grammar checks each token; most statements name no account. */
    private boolean watched;
    /** Length of the output at the first password, or -1 before it. */
    private int secretLength;

    /** @param namesKept whether names of accounts are written */
    AccountMask(SqlMode mode, MaskedText text, LiteralReader literals, boolean namesKept) {
        this.text = text;
        this.literals = literals;
        this.namesKept = namesKept;
        this.part = new NamePart(mode);
        this.passwords = new PasswordClause(mode);
        this.ahead = new ConditionTokens(mode);
    }

    void reset() {
        secretLength = -1;
        endStatement();
    }

    void endStatement() {
        grammar.reset();
        watched = false;
    }

    /** Cuts the output after the first password, because the text after it does not fit the grammar. */
    void cut() {
        text.truncate(secretLength);
        endStatement();
    }

    boolean isWatching() {
        return watched;
    }

    /** Returns whether the next token can only be the name of an account. */
    boolean expectsName() {
        return watched && grammar.expectsName();
    }

    /** Returns whether a password precedes, so that text that does not fit must not be written. */
    boolean isStrict() {
        return watched && grammar.isStrict();
    }

    /** Returns whether a byte that is not part of a longer token fits the grammar. */
    boolean fitsSymbol(byte symbol) {
        return !watched || (symbol == '?' ? fitsNumber() : grammar.symbol(symbol));
    }

    /** Returns whether a number fits the grammar; the version of a version comment is not a token. */
    boolean fitsNumber() {
        return !watched || text.endsWith('!') || grammar.placeholder();
    }

    boolean fitsConstant() {
        return !watched || grammar.placeholder();
    }

    boolean fitsLiteral() {
        return !watched || grammar.literal(!literals.isDoubtful() && !literals.hasBackslashes());
    }

    /** Returns whether a quoted name that is not an account's fits the grammar. */
    boolean fitsQuotedName() {
        return !watched || grammar.quotedName();
    }

    /** Returns whether the word in the range, which does not begin a statement, fits the grammar. */
    boolean fitsWord(byte[] bytes, int from, int end) {
        boolean fits = grammar.word(bytes, from, end);
        watched = grammar.isActive();
        return fits;
    }

    /** Begins a statement with the word in {@code [from, end)}. */
    void begin(byte[] bytes, int from, int end, int to) {
        grammar.reset();
        if (AccountGrammar.mayBeVerb(bytes[from], end - from)) {
            grammar.begin(bytes, from, end);
            if (grammar.readsPrivileges()) {
                ahead.start(bytes, end, Math.min(to, end + FARTHEST));
                grammar.privileges(PrivilegeListLookahead.of(ahead));
            }
        }
        watched = grammar.isActive();
    }

    /** Writes the account or role that begins here in backticks; returns {@code from} if there is none. */
    int account(byte[] bytes, int from, int to) {
        if (ByteText.isBlank(bytes[from]) || isKeyword(bytes, from, to) || startsCode(bytes, from, to)) {
            return from;
        }
        int end = literals.hasBackslashes() ? -1 : part.read(bytes, from, to);
        if (end < 0) {
            return from;
        }
        text.separate((byte) '`');
        writePart(bytes, from, to, false);
        int host = hostOf(bytes, end, to);
        int hostEnd = host < 0 ? -1 : part.readHost(bytes, host, to);
        if (hostEnd >= 0) {
            text.put((byte) '@');
            writePart(bytes, host, to, true);
            end = hostEnd;
        }
        text.setBlank(isBeforeWord(bytes, end, to));
        grammar.name();
        return end;
    }

    private boolean isKeyword(byte[] bytes, int from, int to) {
        int end = NoBreakSpace.wordEnd(bytes, from, to);
        int next = Spacing.end(bytes, end, to);
        return end > from && grammar.isKeyword(bytes, from, end, next < to && bytes[next] == '(');
    }

    /** Returns whether the digits of a version comment, or the mark that ends one, begin here. */
    private boolean startsCode(byte[] bytes, int from, int to) {
        return text.endsWith('!') || literals.introduced(bytes, from, NoBreakSpace.wordEnd(bytes, from, to), to) >= 0;
    }

    /** Returns the index of the host after {@code @}, or -1 if there is none. */
    private static int hostOf(byte[] bytes, int nameEnd, int to) {
        int at = Spacing.end(bytes, nameEnd, to);
        boolean is = at < to && bytes[at] == '@';
        return is ? Spacing.end(bytes, at + 1, to) : -1;
    }

    /** Returns whether a blank must follow the rewritten text, whether or not the statement has one. */
    static boolean isBeforeWord(byte[] bytes, int from, int to) {
        return NoBreakSpace.isWordAt(bytes, Spacing.end(bytes, from, to), to);
    }

    /** Writes the latest part of an account; hosts are case-insensitive. */
    private void writePart(byte[] bytes, int from, int to, boolean host) {
        boolean literal = bytes[from] == '\'' || bytes[from] == '"';
        if (literal) {
            literals.doubtIf(part.isGlued() && !literals.mayFollow(bytes, part.end(), to));
            text.markName();
        }
        if (part.isPlaceholder()) {
            text.put((byte) '?');
            return;
        }
        text.rewriteIf(bytes[from] != '`' || host);
        text.put((byte) '`');
        if (host) {
            part.toLowerCase();
        }
        text.copy(part.bytes(), 0, part.length());
        text.put((byte) '`');
    }

    /** Continues after the word in {@code [from, end)}, which a password may follow. */
    int password(byte[] bytes, int from, int end, int to) {
        if (namesKept && ByteText.equalsIgnoreCase(bytes, from, end, IDENTIFIED)) {
            return clause(bytes, end, to);
        }
        boolean own =
                !literals.hasBackslashes() && grammar.isSet() && ByteText.equalsIgnoreCase(bytes, from, end, PASSWORD);
        if (own) {
            passwordFor(bytes, end, to);
        }
        text.blank();
        text.placeholder();
        return to;
    }

    /**
     * Writes a placeholder for a password and its clause, and cuts the output after it if the clause's end is
     * uncertain.
     */
    private int clause(byte[] bytes, int from, int to) {
        text.blank();
        text.literal();
        secretLength = secretLength < 0 ? text.length() : secretLength;
        boolean read = grammar.takesPassword() && !literals.hasBackslashes();
        int end = read ? passwords.end(bytes, from, to) : -1;
        if (end < 0) {
            text.truncate(secretLength);
            return to;
        }
        grammar.password();
        text.setBlank(isBeforeWord(bytes, end, to));
        text.rewriteIf(true);
        return end;
    }

    /** Writes the account of {@code SET PASSWORD FOR}; one placeholder represents the rest. */
    private void passwordFor(byte[] bytes, int from, int to) {
        int word = Spacing.end(bytes, from, to);
        int end = NoBreakSpace.wordEnd(bytes, word, to);
        if (!ByteText.equalsIgnoreCase(bytes, word, end, FOR)) {
            return;
        }
        grammar.expectOne();
        int before = text.length();
        text.blank();
        text.separate(bytes[word]);
        text.copy(bytes, word, end);
        text.blank();
        int name = Spacing.end(bytes, end, to);
        if (name == to || account(bytes, name, to) == name) {
            text.truncate(before);
        }
    }
}
