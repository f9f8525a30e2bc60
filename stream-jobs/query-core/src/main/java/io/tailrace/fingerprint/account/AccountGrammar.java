package io.tailrace.fingerprint.account;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.WordTable;
import java.util.Map;

/**
 * Follows a statement's tokens and determines where the grammar allows only the name of an account or role. A quoted
 * text in such a position is a name, not a literal. Supports the syntax of MySQL 5.5 to 9 and MariaDB 10 to 12. From
 * the first token that does not fit, every literal is masked. Not thread-safe.
 */
public final class AccountGrammar {

    /** What follows GRANT or REVOKE. */
    public enum Privileges {
        /** Privileges on an object. */
        ON_OBJECT,
        ROLES,
        /** All privileges, or MariaDB's ADMIN OPTION FOR a role. */
        OF_ALL,
        OPTION_OF_ROLE,
        UNKNOWN
    }

    private enum State {
        OFF,
        /** CREATE or ALTER, before the kind of object. */
        DEFINITION,
        /** The same after an option: no account is defined. */
        OPTIONS,
        DEFINER,
        DROP,
        RENAME,
        PRIVILEGES,
        PROXY,
        /** Before TO or FROM. */
        OBJECT,
        OPTION,
        SET,
        SET_DEFAULT,
        SET_SESSION,
        SHOW,
        SHOW_GRANTS,
        SHOW_CREATE,
        KILL,
        CLONE,
        CHANGE,
        CHECKS_USER,
        /** A name must follow. */
        NAME,
        AFTER_NAME,
        /** After a list of accounts, or after one of them. */
        TAIL
    }

    /** The list that contains the current name. */
    private enum Names {
        /** Passwords and options may follow. */
        ACCOUNTS,
        PLAIN,
        RENAMED,
        /** Roles that are granted or revoked. */
        ROLES,
        /** SET ROLE, and the roles after USING and WITH ROLE. */
        ACTIVE_ROLES,
        DEFAULT_ROLES,
        /** DEFAULT ROLE of CREATE and ALTER USER. */
        ROLES_OF_ACCOUNT,
        DEFINER,
        PROXIED,
        GRANTOR,
        SHOWN,
        CHECKED,
        ONE
    }

    private enum Word {
        ACCOUNT,
        ACTIVE,
        ADD,
        ADMIN,
        AGGREGATE,
        ALGORITHM,
        ALL,
        ALTER,
        AND,
        AS,
        ATTRIBUTE,
        AUTHENTICATION,
        AUTHORIZATION,
        CHANGE,
        CIPHER,
        CLONE,
        COMMENT,
        CONNECTION,
        CREATE,
        CURRENT,
        CURRENT_ROLE,
        CURRENT_USER,
        DAY,
        DEFAULT,
        DEFINER,
        DISCARD,
        DROP,
        EFFECTIVE,
        EXCEPT,
        EXISTS,
        EXPIRE,
        FACTOR,
        FAILED_LOGIN_ATTEMPTS,
        FOR,
        FROM,
        GRANT,
        GRANTS,
        HARD,
        HISTORY,
        IDENTIFIED,
        IF,
        INITIAL,
        INSTANCE,
        INTERVAL,
        INVOKER,
        ISSUER,
        KILL,
        LOCK,
        MAX_CONNECTIONS_PER_HOUR,
        MAX_QUERIES_PER_HOUR,
        MAX_STATEMENT_TIME,
        MAX_UPDATES_PER_HOUR,
        MAX_USER_CONNECTIONS,
        MERGE,
        MODIFY,
        NEVER,
        NO,
        NONE,
        NOT,
        OLD,
        ON,
        OPTION,
        OPTIONAL,
        OR,
        PASSWORD,
        PASSWORD_LOCK_TIME,
        PRIVILEGE_CHECKS_USER,
        PROXY,
        PUBLIC,
        QUERY,
        RENAME,
        REPLACE,
        REQUIRE,
        REUSE,
        REVOKE,
        ROLE,
        SECURITY,
        SESSION,
        SET,
        SHOW,
        SOFT,
        SQL,
        SSL,
        SUBJECT,
        TEMPTABLE,
        TO,
        UNBOUNDED,
        UNDEFINED,
        UNLOCK,
        USER,
        USING,
        WITH,
        X509,
        OTHER
    }

    private static final WordTable<Word> WORDS = WordTable.ofNames(Word.values(), Word.OTHER);

    private static final Map<Word, State> VERBS = Map.ofEntries(
            Map.entry(Word.CREATE, State.DEFINITION),
            Map.entry(Word.ALTER, State.DEFINITION),
            Map.entry(Word.DROP, State.DROP),
            Map.entry(Word.RENAME, State.RENAME),
            Map.entry(Word.GRANT, State.PRIVILEGES),
            Map.entry(Word.REVOKE, State.PRIVILEGES),
            Map.entry(Word.SET, State.SET),
            Map.entry(Word.SHOW, State.SHOW),
            Map.entry(Word.KILL, State.KILL),
            Map.entry(Word.CLONE, State.CLONE),
            Map.entry(Word.CHANGE, State.CHANGE));

    private State state = State.OFF;
    private Names names = Names.PLAIN;
    private Word verb = Word.OTHER;
    private Word last = Word.OTHER;
    /** CREATE, ALTER or DROP applies to roles. */
    private boolean role;
    /** The current tail applies to one account: another account follows a comma. */
    private boolean ofOne;
    /** A password was read: text that does not fit after it may be part of it. */
    private boolean strict;

    public void reset() {
        state = State.OFF;
        strict = false;
    }

    /**
     * Returns whether one of the verbs has this first letter and length; SELECT, INSERT and UPDATE are not verbs
     * here.
     */
    public static boolean mayBeVerb(byte first, int length) {
        return switch (ByteText.lower(first)) {
            case 'a', 'c', 'd', 'g', 'k', 'r' -> length <= 6;
            case 's' -> length <= 4;
            default -> false;
        };
    }

    /** Begins a statement, or one of a program, with this word. */
    public void begin(byte[] bytes, int from, int to) {
        verb = wordOf(bytes, from, to);
        state = VERBS.getOrDefault(verb, State.OFF);
        last = verb;
        strict = false;
    }

    public boolean isActive() {
        return state != State.OFF;
    }

    /** Returns whether the next token can only be a name. */
    public boolean expectsName() {
        return state == State.NAME;
    }

    /** Returns whether GRANT or REVOKE was read, so that the caller must call {@link #privileges}. */
    public boolean readsPrivileges() {
        return state == State.PRIVILEGES && last == verb;
    }

    /** Returns whether the previous word is SET. */
    public boolean isSet() {
        return state == State.SET && last == Word.SET;
    }

    /** Returns whether a password precedes the current token, so that text that does not fit must not be written. */
    public boolean isStrict() {
        return strict;
    }

    /** Sets the result of looking ahead at the privileges or roles that are granted or revoked. */
    public void privileges(Privileges privileges) {
        switch (privileges) {
            case ON_OBJECT -> {}
            case ROLES -> expect(Names.ROLES);
            case OF_ALL -> state = State.OBJECT;
            case OPTION_OF_ROLE -> state = State.OPTION;
            case UNKNOWN -> state = State.OFF;
        }
    }

    /** Expects an account of which only the name is written. */
    public void expectOne() {
        expect(Names.ONE);
    }

    /** Records that an account or role was read. */
    public void name() {
        state = State.AFTER_NAME;
        last = Word.OTHER;
    }

    /** Records that a password and its clause were read. */
    public void password() {
        strict = true;
        state = State.TAIL;
        ofOne = true;
        last = Word.OTHER;
    }

    /** Returns whether a password may follow IDENTIFIED here. */
    public boolean takesPassword() {
        return state == State.TAIL || state == State.AFTER_NAME && (names == Names.ACCOUNTS || verb == Word.CLONE);
    }

    /**
     * Returns whether the word in the range is a keyword where a name is expected.
     *
     * @param called whether a parenthesis follows
     */
    public boolean isKeyword(byte[] bytes, int from, int to, boolean called) {
        return switch (wordOf(bytes, from, to)) {
            case IF, NOT, EXISTS, CURRENT_USER, CURRENT_ROLE -> true;
            case USER -> called;
            case ALL, NONE, DEFAULT, EXCEPT -> isOfRoles();
            case PUBLIC -> names == Names.ACCOUNTS || names == Names.PLAIN;
            default -> false;
        };
    }

    private boolean isOfRoles() {
        return switch (names) {
            case ACTIVE_ROLES, DEFAULT_ROLES, ROLES_OF_ACCOUNT -> true;
            default -> false;
        };
    }

    /**
     * Reads a word that is not a name.
     *
     * @return false if it follows a password and does not fit
     */
    public boolean word(byte[] bytes, int from, int to) {
        Word word = wordOf(bytes, from, to);
        read(word);
        last = word;
        return fits();
    }

    private boolean fits() {
        return isActive() || !strict;
    }

    private void read(Word word) {
        switch (state) {
            case DEFINITION -> definition(word);
            case OPTIONS -> option(word);
            case DROP -> object(word, Names.PLAIN);
            case RENAME -> expectAfter(word == Word.USER, Names.RENAMED);
            case PRIVILEGES -> privilege(word);
            case PROXY -> expectAfter(word == Word.ON, Names.PROXIED);
            case OBJECT -> target(word);
            case OPTION -> expectWhere(word == Word.FOR, Names.ROLES);
            case SET -> set(word);
            case SET_DEFAULT -> expectAfter(word == Word.ROLE, Names.DEFAULT_ROLES);
            case SET_SESSION -> expectAfter(word == Word.AUTHORIZATION, Names.ONE);
            case SHOW -> show(word);
            case SHOW_GRANTS -> expectAfter(word == Word.FOR, Names.SHOWN);
            case SHOW_CREATE -> expectAfter(word == Word.USER, Names.ONE);
            case KILL -> kill(word);
            case CLONE -> expectWhere(word == Word.FROM, Names.ONE);
            case CHANGE -> state = word == Word.PRIVILEGE_CHECKS_USER ? State.CHECKS_USER : state;
            case NAME -> keyword(word);
            case AFTER_NAME -> afterName(word);
            case TAIL -> tail(word);
            default -> state = State.OFF;
        }
    }

    private void definition(Word word) {
        switch (word) {
            case OR, REPLACE -> {}
            case USER, ROLE -> object(word, Names.ACCOUNTS);
            default -> option(word);
        }
    }

    private void option(Word word) {
        state = switch (word) {
            case DEFINER -> State.DEFINER;
            case OR, REPLACE, AGGREGATE, ALGORITHM, UNDEFINED, MERGE, TEMPTABLE, SQL, SECURITY, INVOKER -> State
                    .OPTIONS;
            default -> State.OFF;
        };
    }

    private void object(Word word, Names following) {
        role = word == Word.ROLE;
        expectAfter(role || word == Word.USER, following);
    }

    private void privilege(Word word) {
        if (word == Word.PROXY && (last == verb || last == Word.EXISTS)) {
            state = State.PROXY;
        } else if (word == Word.ON) {
            state = State.OBJECT;
        }
    }

    private void target(Word word) {
        expectWhere(word == before(), Names.ACCOUNTS);
    }

    private Word before() {
        return verb == Word.GRANT ? Word.TO : Word.FROM;
    }

    private void set(Word word) {
        switch (word) {
            case DEFAULT -> state = State.SET_DEFAULT;
            case SESSION -> state = State.SET_SESSION;
            default -> expectAfter(word == Word.ROLE, Names.ACTIVE_ROLES);
        }
    }

    private void show(Word word) {
        state = switch (word) {
            case EFFECTIVE -> State.SHOW;
            case GRANTS -> State.SHOW_GRANTS;
            case CREATE -> State.SHOW_CREATE;
            default -> State.OFF;
        };
    }

    private void kill(Word word) {
        switch (word) {
            case HARD, SOFT, CONNECTION, QUERY -> {}
            default -> expectAfter(word == Word.USER, Names.ONE);
        }
    }

    private void keyword(Word word) {
        switch (word) {
            case IF, NOT, EXISTS, EXCEPT -> {}
            case CURRENT_USER, CURRENT_ROLE, USER, PUBLIC, ALL, NONE, DEFAULT -> state = State.AFTER_NAME;
            default -> state = State.OFF;
        }
    }

    private void afterName(Word word) {
        switch (names) {
            case ACCOUNTS -> tail(word);
            case RENAMED -> expectAfter(word == Word.TO, Names.RENAMED);
            case ROLES, PROXIED -> expectAfter(word == before(), Names.ACCOUNTS);
            case DEFAULT_ROLES -> expectAfter(word == Word.TO || word == Word.FOR, Names.PLAIN);
            case ACTIVE_ROLES -> expectAfter(word == Word.EXCEPT, Names.ACTIVE_ROLES);
            case SHOWN -> expectAfter(word == Word.USING, Names.ACTIVE_ROLES);
            case DEFINER -> option(word);
            case ROLES_OF_ACCOUNT -> {
                tail(word);
                expectWhere(word == Word.EXCEPT, Names.ROLES_OF_ACCOUNT);
            }
            case GRANTOR -> grantor(word);
            default -> state = State.OFF;
        }
    }

    private void grantor(Word word) {
        if (word != Word.WITH) {
            expectAfter(word == Word.ROLE, Names.ACTIVE_ROLES);
        }
    }

    private void tail(Word word) {
        state = State.TAIL;
        switch (word) {
            case ROLE -> expectWhere(last == Word.DEFAULT && isDefinition(), Names.ROLES_OF_ACCOUNT);
            case ADMIN -> expectWhere(last == Word.WITH && role && isDefinition(), Names.ONE);
            case AS -> expectAfter(verb == Word.GRANT, Names.GRANTOR);
            case ADD, MODIFY, DROP, DISCARD, FACTOR, OLD, INITIAL, AUTHENTICATION -> ofOne = true;
            case PASSWORD -> ofOne &= last == Word.OLD;
            case OTHER -> {
                ofOne = false;
                state = strict ? State.OFF : State.TAIL;
            }
            default -> ofOne = false;
        }
    }

    private boolean isDefinition() {
        return verb == Word.CREATE || verb == Word.ALTER;
    }

    private void expect(Names following) {
        names = following;
        state = State.NAME;
        ofOne = following == Names.ACCOUNTS;
    }

    private void expectWhere(boolean condition, Names following) {
        if (condition) {
            expect(following);
        }
    }

    private void expectAfter(boolean condition, Names following) {
        if (condition) {
            expect(following);
        } else {
            state = State.OFF;
        }
    }

    /** Works like {@link #word} for a byte that is not part of a longer token. */
    public boolean symbol(byte b) {
        switch (state) {
            case DEFINER, CHECKS_USER -> {
                boolean definer = state == State.DEFINER;
                expectAfter(b == '=', definer ? Names.DEFINER : Names.CHECKED);
            }
            case NAME, AFTER_NAME, TAIL -> punctuation(b);
            default -> {}
        }
        return fits();
    }

    private void punctuation(byte b) {
        switch (b) {
            case ',' -> comma();
                // Version comments, whose content is code.
            case '/', '*', '!' -> endIf(strict);
            case '(', ')' -> endIf(last != Word.CURRENT_USER && last != Word.CURRENT_ROLE && last != Word.USER);
            case ':' -> endIf(state != State.AFTER_NAME || verb != Word.CLONE);
            default -> state = State.OFF;
        }
    }

    private void comma() {
        if (state == State.AFTER_NAME && names == Names.CHECKED) {
            state = State.CHANGE;
        } else if (state == State.AFTER_NAME) {
            expectAfter(isList(), names);
        } else {
            expectAfter(state == State.TAIL && ofOne, Names.ACCOUNTS);
        }
    }

    private boolean isList() {
        return switch (names) {
            case DEFINER, PROXIED, GRANTOR, SHOWN, CHECKED, ONE -> false;
            default -> true;
        };
    }

    /**
     * Works like {@link #word} for a literal that is not a name.
     *
     * @param sound whether its start and end are certain
     */
    public boolean literal(boolean sound) {
        switch (state) {
            case OBJECT, DEFINITION, OPTIONS, CHANGE -> {}
            case TAIL -> endIf(strict && !(sound && takesLiteral()));
            default -> state = State.OFF;
        }
        last = Word.OTHER;
        return fits();
    }

    private boolean takesLiteral() {
        return switch (last) {
            case SUBJECT, ISSUER, CIPHER, COMMENT, ATTRIBUTE -> true;
            default -> false;
        };
    }

    /** Works like {@link #word} for a number or a question mark. */
    public boolean placeholder() {
        switch (state) {
            case NAME -> state = State.OFF;
            case AFTER_NAME -> endIf(verb != Word.CLONE);
            default -> {}
        }
        return fits();
    }

    /** Works like {@link #word} for a quoted name that is not an account's. */
    public boolean quotedName() {
        endIf(state == State.NAME || state == State.AFTER_NAME || state == State.TAIL);
        return fits();
    }

    private void endIf(boolean isEnd) {
        if (isEnd) {
            state = State.OFF;
        }
    }

    private static Word wordOf(byte[] bytes, int from, int to) {
        Word word = WORDS.get(bytes, from, to);
        return word == null ? Word.OTHER : word;
    }
}
