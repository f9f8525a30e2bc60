package io.tailrace.fingerprint.mask;

import io.tailrace.fingerprint.account.AccountGrammar;
import io.tailrace.fingerprint.account.PrivilegeListLookahead;
import io.tailrace.fingerprint.comment.Comments;
import io.tailrace.fingerprint.comment.ToolComment;
import io.tailrace.fingerprint.comment.VersionCommentExtent;
import io.tailrace.fingerprint.credential.CredentialValue;
import io.tailrace.fingerprint.credential.PasswordClause;
import io.tailrace.fingerprint.credential.PasswordScanner;
import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.ExecutableComment;
import io.tailrace.lexer.ExecutableComment.Servers;
import io.tailrace.lexer.NoBreakSpace;
import io.tailrace.lexer.NumberScanner;
import io.tailrace.lexer.QuotedText;
import io.tailrace.lexer.SqlBytes;
import io.tailrace.lexer.SqlMode;
import io.tailrace.lexer.WordTable;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * First step of a fingerprint: reads a statement once and writes it without literals and comments, with white space
 * collapsed. Names and keywords remain unchanged; {@link NameMask} is the next step for them. The result depends only
 * on the statement's bytes. Not thread-safe.
 */
public final class Masker {

    /**
     * Longest masked text, bytes. Later text is read, because it may show that quotes do not match, but not written.
     */
    public static final int MAX_MASKED_LENGTH = 16 << 20;

    private static final byte[] CREATE = ByteText.ascii("create");
    private static final byte[] ALTER = ByteText.ascii("alter");
    private static final byte[] NULL = ByteText.ascii("null");
    private static final byte[] TRUE = ByteText.ascii("true");
    /** Longest quoted name, bytes: MySQL allows aliases of 256 characters. Longer ones are masked. */
    private static final int MAX_NAME_LENGTH = 1024;

    // spotless:off
    private static final WordTable<Boolean> AFTER_LITERAL = words(
            "and", "or", "xor", "as", "from", "where", "having", "group", "order", "limit", "union", "then", "else",
            "when", "end", "in", "is", "like", "rlike", "regexp", "not", "between", "collate", "separator", "escape",
            "on", "using", "into", "for", "asc", "desc", "div", "mod", "with", "set", "values", "identified");
    // spotless:on
    private static final int MAX_KEYWORD_LENGTH = 10;

    private static final byte[] FALSE = ByteText.ascii("false");
    private static final byte[] PASSWORD = ByteText.ascii("password");
    private static final byte[] IDENTIFIED = ByteText.ascii("identified");
    /** Maximum length of a list of privileges that is searched, bytes. */
    private static final int FARTHEST = 1 << 16;

    private static final byte[] VERSION_COMMENT = ByteText.ascii("/*!?");
    private static final byte[] FOR = ByteText.ascii("for");

    private static WordTable<Boolean> words(String... words) {
        return WordTable.ofAnyCase(Stream.of(words).collect(Collectors.toMap(word -> word, word -> true)));
    }

    private final SqlMode mode;
    private byte[] out = new byte[1024];
    private int length;

    private byte[] in;
    private int to;
    private boolean blankPending;
    private boolean commentPending;
    private boolean toolComment;
    /** The statement ends within a literal or quoted name, or a literal seems to end within a word. */
    private boolean doubtful;
    /** A tag of dollar quotes was a name. Later tags are not searched for, because the time would be quadratic. */
    private boolean tagsEnd;
    /** Length of the output at the first literal, or -1 before it. */
    private int trustedLength;
    /** The first literal is written as a name. */
    private boolean firstIsName;

    private final VersionCommentExtent versions = new VersionCommentExtent();
    /** The content of an executable comment is read, in which {@code *}{@code /} is its end and no operator. */
    private boolean executable;

    private final PasswordScanner guard = new PasswordScanner();
    private final Comments comments = new Comments();
    /** Whether the rules keep names of accounts and character sets, quoted or not. */
    private final boolean namesKept;

    private final AccountGrammar grammar = new AccountGrammar();
    /** Whether the grammar checks each token; most statements name no account. */
    private boolean watched;

    private final QuotedText quotedText = new QuotedText();
    private final NamePart part;
    private final PasswordClause passwords;
    private final ConditionTokens ahead;
    /** Length of the output at the first password, or -1 before it. */
    private int secretLength;
    /** A literal contains a backslash, so its end depends on the server's mode. */
    private boolean backslashes;
    /** A name was written in another form than in the statement, or in place of an apparent literal. */
    private boolean rewritten;

    /** White space for some character sets of the client, and part of a name for others. */
    private boolean noBreakSpaces;

    private int verbFrom;
    private int verbTo;

    /** @param namesKept whether names of accounts and character sets are written, as since tailrace-2 */
    public Masker(SqlMode mode, boolean namesKept) {
        this.mode = mode;
        this.namesKept = namesKept;
        this.part = new NamePart(mode);
        this.passwords = new PasswordClause(mode);
        this.ahead = new ConditionTokens(mode);
    }

    /**
     * Masks a statement; the result is in {@link #bytes()} up to {@link #length()}. A statement that ends within a
     * literal was cut, or its quotes do not match. Text that seems to be outside of literals may be inside then, so
     * nothing after the first literal is written.
     */
    public void mask(byte[] bytes, int from, int end) {
        clear();
        in = bytes;
        to = end;
        length = 0;
        blankPending = false;
        commentPending = false;
        toolComment = false;
        tagsEnd = false;
        trustedLength = -1;
        firstIsName = false;
        secretLength = -1;
        backslashes = false;
        rewritten = false;
        verbFrom = -1;
        executable = false;
        guard.reset();
        forget();
        int i = from;
        while (i < to) {
            i = token(i);
        }
        versions.end(in, to);
        doubtful |= versions.differs();
        boolean literal = trustedLength >= 0 && !(versions.differs() && versions.place() < trustedLength);
        if (doubtful && literal) {
            cutAtFirstLiteral();
        } else if (versions.differs()) {
            cutAtVersionComment();
        }
        in = null;
    }

    /** Forgets what the latest statement contains besides its masked text. */
    public void clear() {
        doubtful = false;
        noBreakSpaces = false;
        versions.clear();
        comments.clear();
    }

    /** Omits a comment whose end depends on the server, and what follows it. */
    private void cutAtVersionComment() {
        length = Math.min(length, versions.place());
        verbFrom = verbFrom < length ? verbFrom : -1;
        if (length > 0) {
            put((byte) ' ');
        }
        for (byte b : VERSION_COMMENT) {
            put(b);
        }
    }

    private void cutAtFirstLiteral() {
        length = trustedLength;
        if (firstIsName) {
            put((byte) '?');
        }
    }

    /** Returns whether a name was written in another form than by the rules before tailrace-2. */
    public boolean isRewritten() {
        return rewritten;
    }

    public byte[] bytes() {
        return out;
    }

    public int length() {
        return length;
    }

    /** Returns whether the statement contains a comment with which Percona's own tools mark their statements. */
    public boolean hasToolComment() {
        return toolComment;
    }

    /** Returns the omitted comments. */
    public Comments comments() {
        return comments;
    }

    /** Returns whether the statement ends within a literal, so that it was masked from the first one on. */
    public boolean isDoubtful() {
        return doubtful;
    }

    /** Returns whether it depends on the server which part of the statement is a comment. */
    public boolean dependsOnServer() {
        return versions.differs();
    }

    /** Returns whether words may be separated by no-break spaces, which belong to names in UTF-8. */
    public boolean hasNoBreakSpaces() {
        return noBreakSpaces;
    }

    /** Returns whether the first word is this keyword, which is given in lower case. */
    public boolean isVerb(byte[] keyword) {
        return verbFrom >= 0 && ByteText.equalsIgnoreCase(out, verbFrom, verbTo, keyword);
    }

    /** Returns whether the first word is this keyword and nothing precedes it. */
    public boolean startsWithVerb(byte[] keyword) {
        return verbFrom == 0 && isVerb(keyword);
    }

    private int token(int i) {
        byte b = in[i];
        if (watched && grammar.expectsName()) {
            int end = account(i);
            if (end > i) {
                return end;
            }
        }
        return switch (b) {
            case '\'' -> literal(i);
            case '"' -> mode.ansiQuotes() ? quotedName(i) : literal(i);
            case '`' -> quotedName(i);
            case '#' -> lineComment(i);
            case '-' -> dash(i);
            case '+' -> signed(i) ? number(i + 1) : symbol(i);
            case '.' -> i + 1 < to && ByteText.isDigit(in[i + 1]) && !afterName() ? number(i) : symbol(i);
            case '/' -> slash(i);
            case '*' -> executable && i + 1 < to && in[i + 1] == '/' ? closeExecutable(i) : symbol(i);
            case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' -> number(i);
            default -> {
                if (b >= 0 && b <= ' ') {
                    blankPending = true;
                    yield i + 1;
                }
                yield SqlBytes.isWord(b) ? word(i) : symbol(i);
            }
        };
    }

    private int symbol(int i) {
        if (in[i] == ';') {
            guard.endStatement();
            forget();
        } else if (watched && !fits(in[i])) {
            return cut();
        }
        doubtful |= in[i] == '\\' && !isNull(i);
        separate(in[i]);
        put(in[i]);
        return i + 1;
    }

    private int closeExecutable(int i) {
        if (watched && !(fits((byte) '*') && fits((byte) '/'))) {
            return cut();
        }
        executable = false;
        versions.close(i + 2);
        separate((byte) '*');
        put((byte) '*');
        put((byte) '/');
        return i + 2;
    }

    private boolean fits(byte symbol) {
        boolean version = length > 0 && out[length - 1] == '!';
        return symbol == '?' ? version || grammar.placeholder() : grammar.symbol(symbol);
    }

    /** Cuts the output after the first password, because the text after it does not fit the grammar. */
    private int cut() {
        length = secretLength;
        forget();
        return to;
    }

    private void forget() {
        grammar.reset();
        watched = false;
    }

    /**
     * Returns whether a backslash belongs to {@code \N}. Any other backslash is part of a literal that only seems to
     * have ended.
     */
    private boolean isNull(int backslash) {
        return backslash + 1 < to && in[backslash + 1] == 'N';
    }

    /** Writes the pending blank before the next byte. A comment counts as a blank only between two words. */
    private void separate(byte next) {
        if (length > 0) {
            boolean split = commentPending && SqlBytes.isWord(out[length - 1]) && SqlBytes.isWord(next);
            if (blankPending || split) {
                put((byte) ' ');
            }
        }
        blankPending = false;
        commentPending = false;
    }

    private void placeholder() {
        separate((byte) '?');
        put((byte) '?');
    }

    private boolean afterName() {
        boolean adjacent = !blankPending && !commentPending && length > 0;
        return adjacent && (SqlBytes.isWord(out[length - 1]) || isQuote(out[length - 1]) || out[length - 1] == '?');
    }

    /** Returns whether a byte ends a quoted name; double quotes are written around nothing else. */
    private static boolean isQuote(byte b) {
        return b == '`' || b == '"';
    }

    private int literal(int from) {
        if (namesKept && length > 0 && mayPrecedeName(out[length - 1])) {
            int end = characterSet(from);
            if (end > from) {
                return end;
            }
        }
        placeholder();
        trustedLength = trustedLength < 0 ? length : trustedLength;
        int end = afterLiteral(from);
        boolean glued = NoBreakSpace.isWordAt(in, end, to) && !mayFollowLiteral(end);
        doubtful |= glued;
        return watched && !grammar.literal(!doubtful && !backslashes) ? cut() : end;
    }

    /**
     * Returns whether a literal after this byte may be the name of a character set: after a word, and after an equals
     * sign in a definition.
     */
    private boolean mayPrecedeName(byte last) {
        return SqlBytes.isWord(last) || last == '=' && (isVerb(CREATE) || isVerb(ALTER));
    }

    /** Writes the quoted name of a character set or collation; returns {@code from} if there is none. */
    private int characterSet(int from) {
        int end = backslashes || !CharacterSets.mayFollow(out, length, verbFrom, verbTo) ? -1 : part.read(in, from, to);
        if (end < 0 || !CharacterSets.isName(part.bytes(), 0, part.length())) {
            return from;
        }
        separate(part.bytes()[0]);
        markName();
        copy(part.bytes(), 0, part.length());
        blankPending = isBeforeWord(end);
        doubtful |= NoBreakSpace.isWordAt(in, end, to) && !mayFollowLiteral(end);
        return end;
    }

    /** Records that a name is written which may be the statement's first literal. */
    private void markName() {
        rewritten = true;
        firstIsName |= trustedLength < 0;
        trustedLength = trustedLength < 0 ? length : trustedLength;
    }

    /** Writes the account or role that begins here in backticks; returns {@code from} if there is none. */
    private int account(int from) {
        if (ByteText.isBlank(in[from]) || isKeyword(from) || startsCode(from)) {
            return from;
        }
        int end = backslashes ? -1 : part.read(in, from, to);
        if (end < 0) {
            return from;
        }
        separate((byte) '`');
        writePart(from, false);
        int host = hostOf(end);
        int hostEnd = host < 0 ? -1 : part.readHost(in, host, to);
        if (hostEnd >= 0) {
            put((byte) '@');
            writePart(host, true);
            end = hostEnd;
        }
        blankPending = isBeforeWord(end);
        grammar.name();
        return end;
    }

    /** Returns whether a blank must follow the rewritten text, whether or not the statement has one. */
    private boolean isBeforeWord(int from) {
        return NoBreakSpace.isWordAt(in, afterBlanks(from), to);
    }

    /** Returns whether the digits of a version comment, or the mark that ends one, begin here. */
    private boolean startsCode(int from) {
        return length > 0 && out[length - 1] == '!' || introducedLiteral(from, wordEnd(from)) >= 0;
    }

    private boolean isKeyword(int from) {
        int end = wordEnd(from);
        int next = afterBlanks(end);
        return end > from && grammar.isKeyword(in, from, end, next < to && in[next] == '(');
    }

    /** Returns the index of the host after {@code @}, or -1 if there is none. */
    private int hostOf(int nameEnd) {
        int at = afterBlanks(nameEnd);
        boolean is = at < to && in[at] == '@';
        return is ? afterBlanks(at + 1) : -1;
    }

    /** Returns the index after white space and comments that are not code. */
    private int afterBlanks(int from) {
        int i = from;
        int before = -1;
        while (i > before) {
            before = i;
            i = afterComment(NoBreakSpace.skipBlanks(in, i, to));
        }
        return i;
    }

    private int afterComment(int i) {
        if (i + 2 < to && SqlBytes.startsBlockComment(in, i, to) && in[i + 2] != '!' && in[i + 2] != 'M') {
            return commentEnd(i);
        }
        boolean line = i < to && (in[i] == '#' || SqlBytes.startsDashComment(in, i, to));
        return line ? ByteText.lineFeed(in, i, to) : i;
    }

    /** Returns the index after the block comment that begins here, or the end if it is not closed. */
    private int commentEnd(int from) {
        int end = SqlBytes.commentEnd(in, from + 2, to);
        return end < 0 ? to : end;
    }

    /** Writes the latest part of an account; hosts are case-insensitive. */
    private void writePart(int from, boolean host) {
        boolean literal = in[from] == '\'' || in[from] == '"';
        if (literal) {
            doubtful |= part.isGlued() && !mayFollowLiteral(part.end());
            markName();
        }
        if (part.isPlaceholder()) {
            put((byte) '?');
            return;
        }
        rewritten |= in[from] != '`' || host;
        put((byte) '`');
        if (host) {
            part.toLowerCase();
        }
        copy(part.bytes(), 0, part.length());
        put((byte) '`');
    }

    /**
     * Writes a placeholder for a password and its clause, and cuts the output after it if the clause's end is
     * uncertain.
     */
    private int passwordClause(int from) {
        blankPending = true;
        placeholder();
        secretLength = secretLength < 0 ? length : secretLength;
        trustedLength = trustedLength < 0 ? length : trustedLength;
        boolean read = grammar.takesPassword() && !backslashes;
        int end = read ? passwords.end(in, from, to) : -1;
        if (end < 0) {
            length = secretLength;
            return to;
        }
        grammar.password();
        blankPending = isBeforeWord(end);
        rewritten = true;
        return end;
    }

    /** Writes the account of {@code SET PASSWORD FOR}; one placeholder represents the rest. */
    private void passwordFor(int from) {
        int word = afterBlanks(from);
        int end = wordEnd(word);
        if (!ByteText.equalsIgnoreCase(in, word, end, FOR)) {
            return;
        }
        grammar.expectOne();
        int before = length;
        blankPending = true;
        separate(in[word]);
        copy(word, end);
        blankPending = true;
        int name = afterBlanks(end);
        if (name == to || account(name) == name) {
            length = before;
        }
    }

    /**
     * Returns whether a word directly after a literal is a keyword. If not, the literal's quotes do not match: {@code
     * 'O'Brien'}.
     */
    private boolean mayFollowLiteral(int from) {
        int end = wordEnd(from);
        return end - from <= MAX_KEYWORD_LENGTH && AFTER_LITERAL.get(in, from, end) != null;
    }

    /** Returns the index after a literal, or the end if it never ends. */
    private int afterLiteral(int from) {
        int end = quotedText.end(in, from, to, mode.backslashEscapes(in[from]));
        doubtful |= !quotedText.isClosed();
        backslashes |= quotedText.isEscaped();
        return end;
    }

    private int quotedName(int from) {
        byte quote = in[from];
        if (watched && !grammar.quotedName()) {
            return cut();
        }
        int end = from + 1;
        while (end < to && in[end] != quote) {
            end++;
        }
        if (end == to || end - from > MAX_NAME_LENGTH) {
            doubtful |= end == to;
            placeholder();
            return Math.min(end + 1, to);
        }
        separate(quote);
        copy(from, end + 1);
        return end + 1;
    }

    private int dash(int i) {
        if (SqlBytes.startsDashComment(in, i, to)) {
            noBreakSpaces |= i + 2 < to && in[i + 2] < 0;
            return lineComment(i);
        }
        return signed(i) ? number(i + 1) : symbol(i);
    }

    /** Returns whether a sign directly precedes a digit and so belongs to the number, as in Percona's tools. */
    private boolean signed(int i) {
        int next = i + 1 < to && in[i + 1] == '.' ? i + 2 : i + 1;
        return next < to && ByteText.isDigit(in[next]);
    }

    private int lineComment(int from) {
        commentPending = true;
        int end = ByteText.lineFeed(in, from, to);
        comments.addLine(from, end);
        return end;
    }

    private int slash(int i) {
        if (!SqlBytes.startsBlockComment(in, i, to)) {
            return symbol(i);
        }
        int code = SqlBytes.executableFrom(in, i, to);
        Servers servers = code < 0 ? Servers.NONE : ExecutableComment.servers(in, i, code, to);
        if (servers != Servers.NONE) {
            return executable(i, code, servers);
        }
        int end = ExecutableComment.afterSkipped(in, i, to);
        comment(i, end);
        return end;
    }

    private int executable(int i, int code, Servers servers) {
        if (watched && grammar.isStrict()) {
            return cut();
        }
        if (servers == Servers.SOME) {
            versions.open(in, i, to, length);
        }
        executable = true;
        separate((byte) '/');
        copy(i, code);
        return version(code);
    }

    /**
     * Writes the version of a version comment: {@code 50000} of {@code /*!50000AND}. Its five or six digits end where
     * code begins, with or without a blank. Six digits may also be five and the first of a literal; these are treated
     * as a number.
     */
    private int version(int from) {
        int end = from;
        while (end < to && ByteText.isDigit(in[end])) {
            end++;
        }
        int digits = end - from;
        boolean joined = NoBreakSpace.isWordAt(in, end, to);
        if (!joined || digits != 5 && (digits != 6 || belongsToNumber(in[end]))) {
            return from;
        }
        put((byte) '?');
        blankPending = true;
        return end;
    }

    private static boolean belongsToNumber(byte b) {
        return b == 'x' || b == 'X' || b == 'b' || b == 'B' || b == 'e' || b == 'E';
    }

    /** Omits a comment, except the mark of a repeated union: a fingerprint must be its own fingerprint. */
    private void comment(int from, int end) {
        if (Unions.isMark(in, from, end)) {
            separate((byte) '/');
            copy(from, end);
            return;
        }
        toolComment |= ToolComment.matches(in, from + 2, end - 2);
        commentPending = true;
        comments.add(from, end, length);
    }

    private int number(int from) {
        if (watched && !fitsNumber()) {
            return cut();
        }
        int end = NumberScanner.end(in, from, to);
        boolean signed = from > 0 && (in[from - 1] == '-' || in[from - 1] == '+');
        boolean joins = signed && !blankPending && !commentPending && endsWithNumber();
        boolean glued = NoBreakSpace.isWordAt(in, end, to);
        if (glued && (isAfterPoint() || NumberScanner.mayBeginName(in, from, end))) {
            int nameEnd = wordEnd(in[from] == '.' ? from + 1 : from);
            separate(in[from]);
            copy(from, nameEnd);
            return nameEnd;
        }
        if (!joins) {
            placeholder();
        }
        blankPending |= glued;
        return end;
    }

    /** Returns whether the next token directly follows a point, so that it is part of a name. */
    private boolean isAfterPoint() {
        return !blankPending && !commentPending && length > 0 && out[length - 1] == '.';
    }

    /** Returns whether a number fits the grammar; the version of a version comment is not a token. */
    private boolean fitsNumber() {
        return length > 0 && out[length - 1] == '!' || grammar.placeholder();
    }

    /** Returns whether the output ends with a placeholder, or with a name that {@link NameMask} replaces by one. */
    private boolean endsWithNumber() {
        int i = length - 1;
        while (i >= 0 && NumberScanner.belongsToRun(out[i]) && !ByteText.isDigit(out[i])) {
            i--;
        }
        return i >= 0 && (ByteText.isDigit(out[i]) || i == length - 1 && out[i] == '?');
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
            int tag = dollarTag(from, end);
            int after = tag < 0 ? -1 : dollarQuoted(from, tag);
            if (after >= 0) {
                return after;
            }
        }
        int quote = introducedLiteral(from, end);
        if (quote >= 0) {
            return literal(quote);
        }
        boolean partOfNumber = !blankPending && !commentPending && length > 0 && out[length - 1] == '?';
        if (!partOfNumber && isConstant(in, from, end)) {
            return constant(end);
        }
        separate(in[from]);
        int start = length;
        copy(from, end);
        if (verbFrom < 0) {
            verbFrom = start;
            verbTo = length;
        }
        boolean masksRest = guard.masksRest(in, from, end);
        return masksRest || watched || guard.mayDetermineWhatFollows() ? keyword(from, end, masksRest) : end;
    }

    private int noBreakSpace(int from) {
        blankPending = true;
        noBreakSpaces = true;
        return NoBreakSpace.after(in, from, to);
    }

    /** Masks what is assigned to a setting that may contain a key or token, if it is a word without quotes. */
    private int credential(int from, int end) {
        boolean ofUser = from > 0 && in[from - 1] == '@' && (from == 1 || in[from - 2] != '@');
        int mark = afterBlanks(end);
        int equals = mark < to && in[mark] == ':' ? mark + 1 : mark;
        int value = equals < to && in[equals] == '=' && !ofUser ? afterBlanks(equals + 1) : to;
        int valueEnd = CredentialValue.end(in, value, to, guard.readsSettings());
        if (valueEnd == value) {
            return end;
        }
        blankPending = mark > end;
        separate(in[mark]);
        copy(mark, equals + 1);
        blankPending = value > equals + 1;
        placeholder();
        trustedLength = trustedLength < 0 ? length : trustedLength;
        return valueEnd;
    }

    private int constant(int end) {
        if (watched && !grammar.placeholder()) {
            return cut();
        }
        placeholder();
        return end;
    }

    /** Continues after a word that may determine what follows. */
    private int keyword(int from, int end, boolean masksRest) {
        if (masksRest) {
            return password(from, end);
        }
        int next = end;
        if (namesKept && guard.beganStatement()) {
            begin(from, end);
        } else if (watched) {
            next = grammarWord(from, end);
        }
        return next == end && guard.namesCredential() ? credential(from, end) : next;
    }

    private int grammarWord(int from, int end) {
        boolean fits = grammar.word(in, from, end);
        watched = grammar.isActive();
        return fits ? end : cut();
    }

    /** Begins a statement with this word. */
    private void begin(int from, int end) {
        grammar.reset();
        if (AccountGrammar.mayBeVerb(in[from], end - from)) {
            grammar.begin(in, from, end);
            if (grammar.readsPrivileges()) {
                grammar.privileges(privilegesAhead(end));
            }
        }
        watched = grammar.isActive();
    }

    /** Continues after a word that a password may follow. */
    private int password(int from, int end) {
        if (namesKept && end - from == IDENTIFIED.length && ByteText.startsWithIgnoreCase(in, from, end, IDENTIFIED)) {
            return passwordClause(end);
        }
        boolean own = !backslashes && grammar.isSet() && ByteText.equalsIgnoreCase(in, from, end, PASSWORD);
        if (own) {
            passwordFor(end);
        }
        blankPending = true;
        placeholder();
        return to;
    }

    /** Determines what follows GRANT or REVOKE, up to a semicolon. */
    private AccountGrammar.Privileges privilegesAhead(int from) {
        ahead.start(in, from, Math.min(to, from + FARTHEST));
        return PrivilegeListLookahead.of(ahead);
    }

    /** Returns the index after {@code $$} or {@code $js$} at the start of a word, or -1. */
    private int dollarTag(int from, int end) {
        for (int i = from + 1; i < end; i++) {
            if (in[i] == '$') {
                return i + 1;
            }
        }
        return -1;
    }

    /**
     * Masks the body of a stored program in another language, {@code $js$ … $js$} (MySQL 9). Text that has the form
     * of a tag and does not occur again is a name, which servers before 8.0.32 allowed. Exceptions are {@code $$},
     * and a CREATE that was cut.
     */
    private int dollarQuoted(int from, int tagTo) {
        int size = tagTo - from;
        int end = tagsEnd && size > 2 ? -1 : afterTag(from, tagTo);
        if (end < 0 && size > 2 && !isVerb(CREATE)) {
            tagsEnd = true;
            return -1;
        }
        placeholder();
        trustedLength = trustedLength < 0 ? length : trustedLength;
        doubtful |= end < 0;
        return end < 0 ? to : end;
    }

    /** Returns the index after the next tag that equals the one in the range, or -1. */
    private int afterTag(int from, int tagTo) {
        int size = tagTo - from;
        for (int i = tagTo; i + size <= to; i++) {
            if (in[i] == '$' && Arrays.equals(in, from, tagTo, in, i, i + size)) {
                return i + size;
            }
        }
        return -1;
    }

    /** Returns the index of the quote of {@code x'…'}, {@code b'…'}, {@code n'…'} or {@code _charset '…'}, or -1. */
    private int introducedLiteral(int from, int end) {
        boolean letter = end - from == 1
                && switch (in[from]) {
                    case 'x', 'X', 'b', 'B', 'n', 'N' -> true;
                    default -> false;
                };
        if (letter) {
            return end < to && in[end] == '\'' ? end : -1;
        }
        if (in[from] != '_') {
            return -1;
        }
        int next = NoBreakSpace.skipBlanks(in, end, to);
        if (next + 1 < to && in[next + 1] == '\'' && isHexadecimalOrBit(in[next])) {
            return next + 1;
        }
        return next < to && (in[next] == '\'' || in[next] == '"' && !mode.ansiQuotes()) ? next : -1;
    }

    private static boolean isHexadecimalOrBit(byte b) {
        return b == 'x' || b == 'X' || b == 'b' || b == 'B';
    }

    /** Returns whether the word is NULL, TRUE or FALSE. */
    static boolean isConstant(byte[] bytes, int from, int end) {
        return switch (end - from) {
            case 4 -> ByteText.startsWithIgnoreCase(bytes, from, end, NULL)
                    || ByteText.startsWithIgnoreCase(bytes, from, end, TRUE);
            case 5 -> ByteText.startsWithIgnoreCase(bytes, from, end, FALSE);
            default -> false;
        };
    }

    private void copy(int from, int end) {
        copy(in, from, end);
    }

    private void copy(byte[] bytes, int from, int end) {
        int size = Math.min(end - from, MAX_MASKED_LENGTH - length);
        if (length + size > out.length) {
            out = Arrays.copyOf(out, grown(length + size));
        }
        System.arraycopy(bytes, from, out, length, size);
        length += size;
    }

    private void put(byte b) {
        if (length == out.length) {
            if (length == MAX_MASKED_LENGTH) {
                return;
            }
            out = Arrays.copyOf(out, grown(length + 1));
        }
        out[length++] = b;
    }

    private int grown(int size) {
        return Math.min(MAX_MASKED_LENGTH, Math.max(out.length * 2, size));
    }
}
