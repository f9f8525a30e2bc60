package io.tailrace.fingerprint.mask;

import io.tailrace.fingerprint.comment.Comments;
import io.tailrace.fingerprint.credential.CredentialValue;
import io.tailrace.fingerprint.credential.PasswordScanner;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ExecutableComment;
import io.tailrace.lexer.ExecutableComment.Servers;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.NumberScanner;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.lexer.SqlMode;

/**
 * First step of a fingerprint: reads a statement once and writes it without literals and comments, with white space
 * collapsed. Names and keywords remain unchanged; {@link NameMask} is the next step for them. The result depends only
 * on the statement's bytes. Not thread-safe.
 */
public final class Masker {

    /**
     * Longest masked text, bytes. Later text is read, because it may show that quotes do not match, but not written.
     */
    public static final int MAX_MASKED_LENGTH = MaskedText.MAX_LENGTH;

    private static final byte[] CREATE = ByteText.ascii("create");
    private static final byte[] ALTER = ByteText.ascii("alter");
    /** Longest quoted name, bytes: MySQL allows aliases of 256 characters. Longer ones are masked. */
    private static final int MAX_NAME_LENGTH = 1024;

    private final SqlMode mode;
    /** Whether the rules keep names of accounts and character sets, quoted or not. */
    private final boolean namesKept;

    private final MaskedText text = new MaskedText();
    private final CommentMask comments = new CommentMask(text);
    private final PasswordScanner guard = new PasswordScanner();
    private final LiteralReader literals;
    private final AccountMask accounts;
    private final NamePart name;

    private byte[] in;
    private int to;
    /** White space for some character sets of the client, and part of a name for others. */
    private boolean noBreakSpaces;

    /** @param namesKept whether names of accounts and character sets are written, as since tailrace-2 */
    public Masker(SqlMode mode, boolean namesKept) {
        this.mode = mode;
        this.namesKept = namesKept;
        this.literals = new LiteralReader(mode);
        this.accounts = new AccountMask(mode, text, literals, namesKept);
        this.name = new NamePart(mode);
    }

    /**
     * Masks a statement; the result is in {@link #bytes()} up to {@link #length()}. A statement that ends within a
     * literal was cut, or its quotes do not match. Text that seems to be outside of literals may be inside then, so
     * nothing after the first literal is written.
     */
    public void mask(byte[] bytes, int from, int end) {
        in = bytes;
        to = end;
        noBreakSpaces = false;
        text.clear();
        literals.reset();
        comments.reset();
        guard.reset();
        accounts.reset();
        int i = from;
        while (i < to) {
            i = token(i);
        }
        comments.end(in, to);
        literals.doubtIf(comments.dependsOnServer());
        if (literals.isDoubtful() && text.hasLiteralUpTo(comments.uncertainFrom())) {
            text.cutAtFirstLiteral();
        } else if (comments.dependsOnServer()) {
            text.cutAtVersionComment(comments.uncertainFrom());
        }
        in = null;
    }

    /** Forgets what the latest statement contains besides its masked text. */
    public void clear() {
        noBreakSpaces = false;
        literals.clearDoubts();
        comments.clear();
    }

    /** Returns whether a name was written in another form than by the rules before tailrace-2. */
    public boolean isRewritten() {
        return text.isRewritten();
    }

    public byte[] bytes() {
        return text.bytes();
    }

    public int length() {
        return text.length();
    }

    /** Returns whether the statement contains a comment with which Percona's own tools mark their statements. */
    public boolean hasToolComment() {
        return comments.hasToolComment();
    }

    /** Returns the omitted comments. */
    public Comments comments() {
        return comments.comments();
    }

    /** Returns whether the statement ends within a literal, so that it was masked from the first one on. */
    public boolean isDoubtful() {
        return literals.isDoubtful();
    }

    /** Returns whether a literal contains the quotation mark that encloses it, doubled or after a backslash. */
    public boolean hasQuotesInText() {
        return literals.hasQuotes();
    }

    /** Returns whether it depends on the server which part of the statement is a comment. */
    public boolean dependsOnServer() {
        return comments.dependsOnServer();
    }

    /** Returns whether words may be separated by no-break spaces, which belong to names in UTF-8. */
    public boolean hasNoBreakSpaces() {
        return noBreakSpaces;
    }

    /** Returns whether the first word is this keyword, which is given in lower case. */
    public boolean isVerb(byte[] keyword) {
        return text.isVerb(keyword);
    }

    /** Returns whether the first word is this keyword and nothing precedes it. */
    public boolean startsWithVerb(byte[] keyword) {
        return text.startsWithVerb(keyword);
    }

    private int token(int i) {
        byte b = in[i];
        if (accounts.expectsName()) {
            int end = accounts.account(in, i, to);
            if (end > i) {
                return end;
            }
        }
        return switch (b) {
            case '\'' -> literal(i);
            case '"' -> mode.ansiQuotes() ? quotedName(i) : literal(i);
            case '`' -> quotedName(i);
            case '#' -> comments.line(in, i, to);
            case '-' -> dash(i);
            case '+' -> signed(i) ? number(i + 1) : symbol(i);
            case '.' -> point(i);
            case '/' -> slash(i);
            case '*' -> comments.isInExecutable() && i + 1 < to && in[i + 1] == '/' ? closeExecutable(i) : symbol(i);
            case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number(i);
            default -> {
                if (b >= 0 && b <= ' ') {
                    text.blank();
                    yield i + 1;
                }
                yield SqlBytes.isWord(b) ? word(i) : symbol(i);
            }
        };
    }

    private int symbol(int i) {
        if (in[i] == ';') {
            guard.endStatement();
            accounts.endStatement();
        } else if (!accounts.fitsSymbol(in[i])) {
            return cut();
        }
        if (in[i] == '\\') {
            literals.doubtIf(!isNull(i));
        }
        text.symbol(in[i]);
        return i + 1;
    }

    /**
     * Returns whether a backslash belongs to {@code \N}. Any other backslash is part of a literal that only seems to
     * have ended.
     */
    private boolean isNull(int backslash) {
        return backslash + 1 < to && in[backslash + 1] == 'N';
    }

    /** Omits the rest, because it does not fit the grammar after a password. */
    private int cut() {
        accounts.cut();
        return to;
    }

    private int point(int i) {
        boolean joined = text.isAdjacent() && text.endsWithName();
        return i + 1 < to && ByteText.isDigit(in[i + 1]) && !joined ? number(i) : symbol(i);
    }

    private int literal(int from) {
        if (namesKept && mayPrecedeName()) {
            int end = characterSet(from);
            if (end > from) {
                return end;
            }
        }
        text.literal();
        int end = literals.end(in, from, to);
        return accounts.fitsLiteral() ? end : cut();
    }

    /**
     * Returns whether a literal may be the name of a character set here: after a word, and after an equals sign in a
     * definition.
     */
    private boolean mayPrecedeName() {
        return text.endsWithWord() || text.endsWith('=') && (text.isVerb(CREATE) || text.isVerb(ALTER));
    }

    /** Writes the quoted name of a character set or collation; returns {@code from} if there is none. */
    private int characterSet(int from) {
        int end = literals.hasBackslashes() || !text.mayPrecedeCharacterSet() ? -1 : name.read(in, from, to);
        if (end < 0 || !CharacterSets.isName(name.bytes(), 0, name.length())) {
            return from;
        }
        text.separate(name.bytes()[0]);
        text.markName();
        text.copy(name.bytes(), 0, name.length());
        text.setBlank(AccountMask.isBeforeWord(in, end, to));
        literals.doubtIf(literals.isGlued(in, end, to));
        return end;
    }

    private int quotedName(int from) {
        byte quote = in[from];
        if (!accounts.fitsQuotedName()) {
            return cut();
        }
        int end = from + 1;
        while (end < to && in[end] != quote) {
            end++;
        }
        if (end == to || end - from > MAX_NAME_LENGTH) {
            literals.doubtIf(end == to);
            text.placeholder();
            return Math.min(end + 1, to);
        }
        text.separate(quote);
        text.copy(in, from, end + 1);
        return end + 1;
    }

    private int dash(int i) {
        if (SqlBytes.startsDashComment(in, i, to)) {
            noBreakSpaces |= i + 2 < to && in[i + 2] < 0;
            return comments.line(in, i, to);
        }
        return signed(i) ? number(i + 1) : symbol(i);
    }

    /** Returns whether a sign directly precedes a digit and so belongs to the number, as in Percona's tools. */
    private boolean signed(int i) {
        int next = i + 1 < to && in[i + 1] == '.' ? i + 2 : i + 1;
        return next < to && ByteText.isDigit(in[next]);
    }

    private int slash(int i) {
        if (!SqlBytes.startsBlockComment(in, i, to)) {
            return symbol(i);
        }
        int code = SqlBytes.executableFrom(in, i, to);
        Servers servers = code < 0 ? Servers.NONE : ExecutableComment.servers(in, i, code, to);
        if (servers == Servers.NONE) {
            return comments.block(in, i, to);
        }
        return accounts.isStrict() ? cut() : comments.open(in, i, code, to, servers);
    }

    private int closeExecutable(int i) {
        boolean fits = accounts.fitsSymbol((byte) '*') && accounts.fitsSymbol((byte) '/');
        return fits ? comments.close(i) : cut();
    }

    private int number(int from) {
        if (!accounts.fitsNumber()) {
            return cut();
        }
        int end = NumberScanner.end(in, from, to);
        boolean signed = from > 0 && (in[from - 1] == '-' || in[from - 1] == '+');
        boolean joins = signed && text.isAdjacent() && text.endsWithNumber();
        boolean glued = NoBreakSpace.isWordAt(in, end, to);
        if (glued && (text.isDirectlyAfter('.') || NumberScanner.mayBeginName(in, from, end))) {
            int nameEnd = wordEnd(in[from] == '.' ? from + 1 : from);
            text.separate(in[from]);
            text.copy(in, from, nameEnd);
            return nameEnd;
        }
        if (!joins) {
            text.placeholder();
        }
        if (glued) {
            text.blank();
        }
        return end;
    }

    private int wordEnd(int from) {
        return NoBreakSpace.wordEnd(in, from, to);
    }

    private int word(int from) {
        int end = wordEnd(from);
        if (end == from) {
            return noBreakSpace(from);
        }
        if (in[from] == '$') {
            int after = literals.dollarQuoteEnd(in, from, end, to, text.isVerb(CREATE));
            if (after >= 0) {
                text.literal();
                return after;
            }
        }
        int quote = literals.introduced(in, from, end, to);
        if (quote >= 0) {
            return literal(quote);
        }
        if (LiteralReader.isConstant(in, from, end) && !text.isDirectlyAfter('?')) {
            return constant(end);
        }
        text.word(in, from, end);
        if (guard.ignoresWordsOf(end - from) && !accounts.isWatching()) {
            return end;
        }
        boolean masksRest = guard.masksRest(in, from, end);
        return masksRest || accounts.isWatching() || guard.mayDetermineWhatFollows()
                ? keyword(from, end, masksRest)
                : end;
    }

    private int noBreakSpace(int from) {
        text.blank();
        noBreakSpaces = true;
        return NoBreakSpace.after(in, from, to);
    }

    private int constant(int end) {
        if (!accounts.fitsConstant()) {
            return cut();
        }
        text.placeholder();
        return end;
    }

    /** Continues after a word that may determine what follows. */
    private int keyword(int from, int end, boolean masksRest) {
        if (masksRest) {
            return accounts.password(in, from, end, to);
        }
        int next = end;
        if (namesKept && guard.beganStatement()) {
            accounts.begin(in, from, end, to);
        } else if (accounts.isWatching()) {
            next = accounts.fitsWord(in, from, end) ? end : cut();
        }
        return next == end && guard.namesCredential() ? credential(from, end) : next;
    }

    /** Masks what is assigned to a setting that may contain a key or token, if it is a word without quotes. */
    private int credential(int from, int end) {
        boolean ofUser = from > 0 && in[from - 1] == '@' && (from == 1 || in[from - 2] != '@');
        int mark = Spacing.end(in, end, to);
        int equals = mark < to && in[mark] == ':' ? mark + 1 : mark;
        int value = equals < to && in[equals] == '=' && !ofUser ? Spacing.end(in, equals + 1, to) : to;
        int valueEnd = CredentialValue.end(in, value, to, guard.readsSettings());
        if (valueEnd == value) {
            return end;
        }
        text.setBlank(mark > end);
        text.separate(in[mark]);
        text.copy(in, mark, equals + 1);
        text.setBlank(value > equals + 1);
        text.literal();
        return valueEnd;
    }
}
