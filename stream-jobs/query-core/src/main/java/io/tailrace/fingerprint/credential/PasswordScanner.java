package io.tailrace.fingerprint.credential;

import static java.util.Map.entry;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.WordTable;
import java.util.Map;

/**
 * Finds the word of a statement that a password may follow, in any form: quoted, unquoted, hashed, or partly masked
 * by the server. All text after it is one placeholder.
 */
public final class PasswordScanner {

    private enum Statement {
        UNKNOWN,
        /** A stored program or block, between two of its statements. */
        PROGRAM,
        /** CREATE or ALTER, before the kind of object. */
        DEFINITION,
        /** CREATE or ALTER USER or ROLE, GRANT, CLONE: a password follows IDENTIFIED. */
        ACCOUNT,
        /** CREATE or ALTER SERVER: its OPTIONS may contain a password. */
        SERVER,
        /** SET, CHANGE MASTER, CHANGE REPLICATION SOURCE, START REPLICA: it follows a word that ends with PASSWORD. */
        ASSIGNMENT,
        HARMLESS
    }

    private static final byte[] PASSWORD = ByteText.ascii("password");
    private static final byte[] IDENTIFIED = ByteText.ascii("identified");
    private static final byte[] OPTIONS = ByteText.ascii("options");
    private static final byte[] STATEMENT = ByteText.ascii("statement");
    private static final byte[] FOR = ByteText.ascii("for");
    private static final byte[] BEGIN = ByteText.ascii("begin");

    /** First words of statements; within a program also the words that precede statements. */
    private static final WordTable<Statement> VERBS = WordTable.ofAnyCase(Map.ofEntries(
            entry("create", Statement.DEFINITION),
            entry("alter", Statement.DEFINITION),
            entry("grant", Statement.ACCOUNT),
            entry("clone", Statement.ACCOUNT),
            entry("set", Statement.ASSIGNMENT),
            entry("change", Statement.ASSIGNMENT),
            entry("start", Statement.ASSIGNMENT),
            entry("begin", Statement.PROGRAM),
            entry("declare", Statement.PROGRAM),
            entry("do", Statement.PROGRAM),
            entry("else", Statement.PROGRAM),
            entry("end", Statement.PROGRAM),
            entry("if", Statement.PROGRAM),
            entry("case", Statement.PROGRAM),
            entry("loop", Statement.PROGRAM),
            entry("repeat", Statement.PROGRAM),
            entry("then", Statement.PROGRAM),
            entry("while", Statement.PROGRAM)));

    /** Options, a DEFINER and names are between CREATE and these words. */
    private static final WordTable<Statement> OBJECTS = WordTable.ofAnyCase(Map.ofEntries(
            entry("user", Statement.ACCOUNT),
            entry("role", Statement.ACCOUNT),
            entry("server", Statement.SERVER),
            entry("procedure", Statement.PROGRAM),
            entry("function", Statement.PROGRAM),
            entry("trigger", Statement.PROGRAM),
            entry("event", Statement.PROGRAM),
            entry("package", Statement.PROGRAM),
            entry("table", Statement.HARMLESS),
            entry("view", Statement.HARMLESS),
            entry("index", Statement.HARMLESS),
            entry("database", Statement.HARMLESS),
            entry("schema", Statement.HARMLESS),
            entry("sequence", Statement.HARMLESS),
            entry("tablespace", Statement.HARMLESS),
            entry("logfile", Statement.HARMLESS)));

    private static final WordTable<Boolean> SCOPES =
            WordTable.ofAnyCase(Map.of("global", true, "persist", true, "persist_only", true));

    private Statement statement;
    private boolean program;
    /** The latest word may begin a statement. */
    private boolean began;
    /** The latest word is the first one of an assignment. */
    private boolean first;
    /** {@code SET STATEMENT … FOR}: another statement follows FOR. */
    private boolean settings;
    /** A setting of the server is assigned; elsewhere in a program it may be a variable or a column. */
    private boolean ofServer;
    /** The latest word may name a setting that contains a credential. */
    private boolean credential;

    public void reset() {
        statement = Statement.UNKNOWN;
        program = false;
        began = false;
    }

    /** Returns whether the latest word names a setting that may contain a key or token and is assigned. */
    public boolean namesCredential() {
        return credential;
    }

    /** Returns whether the latest word begins a statement or names a setting with a credential. */
    public boolean mayDetermineWhatFollows() {
        return began || credential;
    }

    /** Returns whether a statement after FOR may follow the assignments. */
    public boolean readsSettings() {
        return settings;
    }

    /** Returns whether the latest word begins a statement, or may do so within a program. */
    public boolean beganStatement() {
        return began;
    }

    /** Ends a statement at a semicolon: another one of the same text, or of the program's body, may follow. */
    public void endStatement() {
        statement = program ? Statement.PROGRAM : Statement.UNKNOWN;
    }

    /** Returns whether a word of this length cannot change the state. This is true for most words of a statement. */
    public boolean ignoresWordsOf(int length) {
        return statement == Statement.HARMLESS && !program && length != BEGIN.length;
    }

    /** Reads the next word; returns true if all text after it must be masked. */
    public boolean masksRest(byte[] bytes, int from, int to) {
        began = statement == Statement.UNKNOWN || statement == Statement.PROGRAM;
        credential = false;
        switch (statement) {
            case UNKNOWN -> begin(VERBS.get(bytes, from, to), Statement.HARMLESS);
            case PROGRAM -> begin(VERBS.get(bytes, from, to), Statement.PROGRAM);
            case DEFINITION -> begin(OBJECTS.get(bytes, from, to), Statement.DEFINITION);
            case HARMLESS -> harmless(bytes, from, to);
            case ACCOUNT -> {
                return ByteText.equalsIgnoreCase(bytes, from, to, IDENTIFIED);
            }
            case SERVER -> {
                return ByteText.equalsIgnoreCase(bytes, from, to, OPTIONS);
            }
            case ASSIGNMENT -> {
                return assignsPassword(bytes, from, to);
            }
        }
        return false;
    }

    private void begin(Statement found, Statement otherwise) {
        statement = found == null ? otherwise : found;
        program |= statement == Statement.PROGRAM;
        first = statement == Statement.ASSIGNMENT;
        settings = false;
        ofServer = false;
    }

    /** Handles a word after a condition within a program, or BEGIN after a label elsewhere. */
    private void harmless(byte[] bytes, int from, int to) {
        if (program
                ? VERBS.get(bytes, from, to) == Statement.PROGRAM
                : ByteText.equalsIgnoreCase(bytes, from, to, BEGIN)) {
            statement = Statement.PROGRAM;
            program = true;
        }
    }

    /**
     * Returns whether a word ends with PASSWORD. In {@code SET STATEMENT a=1 FOR CREATE USER …} it may also begin
     * another statement.
     */
    private boolean assignsPassword(byte[] bytes, int from, int to) {
        settings |= first && ByteText.equalsIgnoreCase(bytes, from, to, STATEMENT);
        first = false;
        if (settings && ByteText.equalsIgnoreCase(bytes, from, to, FOR)) {
            endStatement();
            return false;
        }
        ofServer |= SCOPES.get(bytes, from, to) != null;
        credential = (ofServer || !program) && CredentialNames.areIn(bytes, from, to);
        boolean password = to - from >= PASSWORD.length
                && ByteText.startsWithIgnoreCase(bytes, to - PASSWORD.length, to, PASSWORD);
        Statement found = password ? null : VERBS.get(bytes, from, to);
        if (found == Statement.DEFINITION || found == Statement.ACCOUNT) {
            statement = found;
            began = true;
        }
        return password;
    }
}
