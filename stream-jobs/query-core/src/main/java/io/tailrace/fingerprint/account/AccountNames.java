package io.tailrace.fingerprint.account;

import io.tailrace.fingerprint.flag.DynamicStatementFlags;
import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.fingerprint.token.StatementText;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import io.tailrace.lexer.WordTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Finds the accounts in statements that create, alter or drop accounts or roles, or grant or revoke privileges.
 * Supports the syntax up to MySQL 9 and MariaDB 12. Unlike fingerprints, it also reads texts that a statement prepares,
 * and resolves CURRENT_USER. A password is never mistaken for a name: text after one is read only if the quotes are
 * reliable. {@link #areIncomplete} reports whether there may be more names than were found. Not thread-safe.
 */
public final class AccountNames {

    /** Maximum number of names of one statement. */
    private static final int MAX_COUNT = 64;

    /** Longest name or host, characters: servers allow 128 and 255. */
    private static final int MAX_LENGTH = 255;

    private static final int NO_PASSWORD = -1;

    private enum Word {
        ACCOUNT,
        ALTER,
        AS,
        ATTRIBUTE,
        BY,
        COMMENT,
        CREATE,
        CURRENT_ROLE,
        CURRENT_USER,
        DEFAULT,
        DROP,
        EVENT,
        EXECUTE,
        EXISTS,
        FOR,
        FROM,
        FUNCTION,
        GRANT,
        IDENTIFIED,
        IF,
        IMMEDIATE,
        NOT,
        ON,
        OR,
        PACKAGE,
        PASSWORD,
        PREPARE,
        PROCEDURE,
        RANDOM,
        RENAME,
        REPLACE,
        REQUIRE,
        REVOKE,
        ROLE,
        SET,
        STATEMENT,
        TO,
        TRIGGER,
        USER,
        USING,
        OTHER
    }

    private static final WordTable<Word> WORDS = WordTable.ofNames(Word.values(), Word.OTHER);

    /** Words that begin a clause of a single account, so that another account may follow it. */
    private static final WordTable<Boolean> AUTHENTICATION = WordTable.ofAnyCase(
            Map.of("identified", true, "discard", true, "add", true, "modify", true, "drop", true, "initial", true));

    private final SqlMode mode;
    private final ConditionTokens tokens;
    /** Question marks represent literals, as in a masked text. */
    private boolean masked;

    private String self = "";
    private List<String> found = List.of();
    /** Number of names before the first password. */
    private int certain;
    /** After the first password, the positions of literals are not certain. */
    private boolean doubtful;

    private boolean incomplete;
    /** The text is assigned to a variable: it names an account only if all of it has the form of a statement. */
    private boolean ofVariable;

    public AccountNames(SqlMode mode) {
        this.mode = mode;
        this.tokens = new ConditionTokens(mode);
    }

    /** Returns whether a statement with this masked text may name any account. */
    public boolean arePossible(byte[] maskedText, int length) {
        masked = true;
        self = "?";
        read(maskedText, 0, length);
        return !found.isEmpty() || incomplete;
    }

    /** Returns whether the latest statement may concern more accounts than were found. */
    public boolean areIncomplete() {
        return incomplete;
    }

    /**
     * Returns the accounts, each once, as {@code user@host} or a name alone, in the form of the statement.
     *
     * @param user user of the session, for {@code CURRENT_USER} and statements that set one's own password; empty if
     *     unknown
     */
    public List<String> of(byte[] bytes, int from, int to, String user) {
        masked = false;
        self = user;
        read(bytes, from, to);
        return List.copyOf(found);
    }

    private void read(byte[] bytes, int from, int to) {
        found = new ArrayList<>(2);
        certain = NO_PASSWORD;
        doubtful = false;
        incomplete = false;
        tokens.start(bytes, from, to);
        while (tokens.kind() != Kind.END && statement()) {
            skipToSemicolon();
            next();
        }
        if (doubtful) {
            found = found.subList(0, certain);
        }
        incomplete |= doubtful || tokens.hasVersions() && !found.isEmpty();
    }

    /** Moves to the next token. After a password, each literal shows whether quotes are still reliable. */
    private void next() {
        doubtful |= certain != NO_PASSWORD && tokens.kind() == Kind.TEXT && !tokens.isSound();
        tokens.next();
    }

    private void passwordFollows() {
        certain = certain == NO_PASSWORD ? found.size() : certain;
    }

    private void skipToSemicolon() {
        while (tokens.kind() != Kind.END && !isSymbol(';')) {
            next();
        }
    }

    /**
     * Reads one statement, also after MariaDB's {@code SET STATEMENT … FOR}.
     *
     * @return false if the text after a semicolon is not a separate statement but part of a program that is defined
     */
    private boolean statement() {
        Word verb = word();
        next();
        while (verb == Word.SET && skip(Word.STATEMENT)) {
            skipTo(Word.FOR);
            next();
            verb = word();
            next();
        }
        switch (verb) {
            case GRANT -> granted(Word.TO);
            case REVOKE -> granted(Word.FROM);
            case CREATE, ALTER, DROP -> {
                return defined();
            }
            case RENAME -> {
                if (skip(Word.USER)) {
                    renamed();
                }
            }
            default -> {
                if (!ofVariable) {
                    indirect(verb);
                }
            }
        }
        return true;
    }

    /** Reads accounts of statements without a list of accounts, or with a text that contains one. */
    private void indirect(Word verb) {
        switch (verb) {
            case SET -> set();
            case PREPARE -> {
                skipTo(Word.FROM);
                prepared(Word.FROM);
            }
            case EXECUTE -> prepared(Word.IMMEDIATE);
            default -> {}
        }
    }

    private boolean defined() {
        if (skipOr()) {
            skip(Word.REPLACE);
        }
        if (!skip(Word.USER) && !skip(Word.ROLE)) {
            return !definesProgram();
        }
        while (word() == Word.IF || word() == Word.NOT || word() == Word.EXISTS) {
            next();
        }
        list();
        return true;
    }

    /** Returns whether the statement defines a program, whose body contains semicolons. */
    private boolean definesProgram() {
        int depth = 0;
        while (!ends() && (depth > 0 || !isProgram())) {
            depth += tokens.kind() == Kind.OPEN ? 1 : tokens.kind() == Kind.CLOSE ? -1 : 0;
            next();
        }
        return !ends();
    }

    private boolean isProgram() {
        return switch (word()) {
            case EVENT, FUNCTION, PACKAGE, PROCEDURE, TRIGGER -> true;
            default -> false;
        };
    }

    private boolean skipOr() {
        boolean or = tokens.kind() == Kind.OR;
        if (or) {
            next();
        }
        return or;
    }

    /**
     * Reads the accounts of GRANT or REVOKE. A text in a variable may begin with the same word but be ordinary prose.
     */
    private void granted(Word before) {
        if (ofVariable) {
            skipTo(Word.ON);
        }
        skipTo(before);
        if (skip(before)) {
            list();
        } else {
            incomplete |= !ofVariable;
        }
    }

    private void renamed() {
        do {
            if (!account() || !skip(Word.TO) || !account()) {
                incomplete = true;
                return;
            }
        } while (skipComma());
    }

    /** Reads passwords, default roles, and variables that contain a statement. */
    private void set() {
        if (skip(Word.DEFAULT)) {
            if (skip(Word.ROLE)) {
                defaultRole();
            }
            return;
        }
        do {
            assignment();
            skipToComma();
        } while (skipComma());
    }

    /** Reads {@code r, s TO a, b} (MySQL), or {@code r FOR a} (MariaDB), or one's own default role. */
    private void defaultRole() {
        while (!ends() && word() != Word.TO && word() != Word.FOR) {
            next();
        }
        if (ends()) {
            add(self);
        } else {
            next();
            list();
        }
    }

    private void assignment() {
        if (skip(Word.PASSWORD)) {
            if (!skip(Word.FOR)) {
                add(self);
            } else {
                incomplete |= !account();
            }
            passwordFollows();
        } else if (tokens.kind() == Kind.NAME && tokens.bytes()[tokens.from()] == '@') {
            next();
            while (isSymbol(':') || isSymbol('=')) {
                next();
            }
            prepared(true);
        }
    }

    private void prepared(Word before) {
        if (skip(before)) {
            prepared(false);
        }
    }

    /**
     * Reads a literal that contains a statement. The literal of a variable may be a part of one, because the parts
     * that it is joined with are unknown.
     */
    private void prepared(boolean variable) {
        if (tokens.kind() == Kind.PLACEHOLDER && masked) {
            add("?");
        } else if (tokens.kind() == Kind.TEXT && tokens.isClosed()) {
            String statement = unquoted();
            byte[] text = ByteText.bytes(statement);
            AccountNames inner = new AccountNames(mode);
            inner.ofVariable = variable;
            List<String> names = inner.of(text, 0, text.length, self);
            names.forEach(this::add);
            incomplete |= inner.incomplete;
            next();
            boolean isPart = variable || !ends() && word() != Word.USING;
            incomplete |= isPart && (!names.isEmpty() || DynamicStatementFlags.concernsAccounts(statement, mode));
        } else {
            incomplete |= tokens.kind() == Kind.CODED && !variable;
        }
    }

    /**
     * Reads a list and continues after the last readable account. If a comma or nothing precedes the end, there may
     * be more.
     */
    private void list() {
        while (account()) {
            if (tokens.kind() == Kind.NAME && isAuthentication()) {
                passwordFollows();
                skipAuthentication();
            }
            if (!skipComma()) {
                return;
            }
        }
        incomplete = true;
    }

    private boolean isAuthentication() {
        return AUTHENTICATION.get(tokens.bytes(), tokens.from(), tokens.end()) != null;
    }

    /** Skips to the comma before the next account, or to the end of the list. */
    private void skipAuthentication() {
        int depth = 0;
        Word before = Word.OTHER;
        while (!ends() && (depth > 0 || !isSymbol(',') && !endsList())) {
            depth += tokens.kind() == Kind.OPEN ? 1 : tokens.kind() == Kind.CLOSE ? -1 : 0;
            doubtful |= precedesPassword(before) && !mayBePassword(before);
            boolean kept = word() != Word.PASSWORD || precedesPassword(before);
            before = kept ? word() : Word.OTHER;
            next();
        }
        doubtful |= precedesPassword(before);
    }

    private static boolean precedesPassword(Word word) {
        return word == Word.BY || word == Word.AS || word == Word.USING || word == Word.PASSWORD;
    }

    /**
     * Returns whether the current token begins a password in the server's syntax, or what logs contain in its place.
     */
    private boolean mayBePassword(Word before) {
        return switch (tokens.kind()) {
            case TEXT, CODED, PLACEHOLDER -> true;
            case OPEN -> before == Word.PASSWORD;
            case NAME -> word() == Word.RANDOM || word() == Word.PASSWORD && before != Word.PASSWORD;
            default -> isSymbol('*') || isSymbol('<');
        };
    }

    /** Returns whether the following clause applies to all accounts together; it may contain a list of roles. */
    private boolean endsList() {
        return switch (word()) {
            case REQUIRE, DEFAULT, ACCOUNT, COMMENT, ATTRIBUTE, ROLE -> true;
            default -> false;
        };
    }

    /** Reads an account or role; returns false if there is none. */
    private boolean account() {
        return switch (word()) {
            case CURRENT_USER, CURRENT_ROLE, USER -> ownAccount(word());
            default -> namedAccount();
        };
    }

    private boolean ownAccount(Word function) {
        next();
        boolean called = tokens.kind() == Kind.OPEN;
        while (tokens.kind() == Kind.OPEN || tokens.kind() == Kind.CLOSE) {
            next();
        }
        boolean isUser = function == Word.CURRENT_USER || function == Word.USER && called;
        if (isUser) {
            add(self);
        }
        incomplete |= !isUser;
        return function != Word.USER || called;
    }

    private boolean namedAccount() {
        int at = unquotedAt();
        String user = at < 0 ? part() : text(tokens.from(), at);
        if (user == null) {
            return false;
        }
        if (at < 0) {
            next();
            at = unquotedAt() == tokens.from() ? tokens.from() : -1;
        }
        String host = at < 0 ? "" : host(at);
        if (host == null) {
            return false;
        }
        add(at < 0 ? quotedPart(user) : quotedPart(user) + '@' + host);
        return true;
    }

    /**
     * Reads the host of an account.
     *
     * @param at index of the {@code @} in the current token: the host follows it, or is the next token
     */
    private String host(int at) {
        String host = text(at + 1, tokens.end());
        next();
        if (host.isEmpty()) {
            host = part();
            next();
        }
        return host;
    }

    /** Returns the index of the {@code @} in an unquoted name; -1 if there is none. */
    private int unquotedAt() {
        if (tokens.kind() != Kind.NAME || tokens.isQuotedName()) {
            return -1;
        }
        int i = ByteText.firstOf(tokens.bytes(), tokens.from(), tokens.end(), (byte) '@', (byte) '@');
        return i < tokens.end() ? i : -1;
    }

    /** Returns the current name without its quotes; null if it is not a name, or too long. */
    private String part() {
        String part =
                switch (tokens.kind()) {
                    case TEXT -> tokens.isClosed() ? unquoted() : null;
                    case NAME -> !tokens.isQuotedName()
                            ? text(tokens.from(), tokens.end())
                            : tokens.isClosed() ? unquoted() : null;
                    case PLACEHOLDER -> masked ? "?" : null;
                    default -> null;
                };
        return part == null || part.length() > MAX_LENGTH ? null : part;
    }

    private String text(int from, int to) {
        return ByteText.utf8(tokens.bytes(), from, to);
    }

    /** Returns the text without quotes, with its escapes decoded. */
    private String unquoted() {
        String content = text(tokens.from() + 1, Math.max(tokens.from() + 1, tokens.end() - 1));
        return StatementText.decoded(content, tokens.bytes()[tokens.from()], mode);
    }

    /**
     * Encloses a user's name that contains {@code @} or a backtick in backticks, so that its host can be
     * distinguished.
     */
    private static String quotedPart(String user) {
        boolean plain = user.indexOf('@') < 0 && user.indexOf('`') < 0;
        return plain ? user : '`' + user.replace("`", "``") + '`';
    }

    private void add(String account) {
        if (account.isEmpty() || found.size() == MAX_COUNT) {
            incomplete |= !found.contains(account);
        } else if (!found.contains(account)) {
            found.add(account);
        }
    }

    /** Returns the current keyword. */
    private Word word() {
        Word word = WORDS.get(tokens.bytes(), tokens.from(), tokens.end());
        return word == null ? Word.OTHER : word;
    }

    private boolean skip(Word wanted) {
        boolean is = word() == wanted;
        if (is) {
            next();
        }
        return is;
    }

    private void skipTo(Word wanted) {
        while (!ends() && word() != wanted) {
            next();
        }
    }

    private void skipToComma() {
        int depth = 0;
        while (!ends() && (depth > 0 || !isSymbol(','))) {
            depth += tokens.kind() == Kind.OPEN ? 1 : tokens.kind() == Kind.CLOSE ? -1 : 0;
            next();
        }
    }

    private boolean skipComma() {
        boolean comma = isSymbol(',');
        if (comma) {
            next();
        }
        return comma;
    }

    private boolean ends() {
        return tokens.kind() == Kind.END || isSymbol(';');
    }

    private boolean isSymbol(char symbol) {
        return tokens.end() == tokens.from() + 1 && tokens.bytes()[tokens.from()] == symbol;
    }
}
