package io.tailrace.statement;

import java.util.HashSet;
import java.util.Set;

/**
 * Extracts the names from a fingerprint, and determines whether its statement may access columns that it does not
 * name. If this is uncertain, it may. Never fails; the time is proportional to the length of the text. Not
 * thread-safe.
 */
public final class NameReader {

    /** Maximum number of names. For a statement with more, the result only states that it may access every column. */
    private static final int MAX_NAMES = 4_096;

    private final Tokens tokens = new Tokens();
    private Set<String> names = new HashSet<>();
    private Set<String> called = new HashSet<>();
    private boolean everyColumn;
    /** The current token is where a column or an expression begins, so that a star means all columns. */
    private boolean expressionBegins;

    private String database = "";
    private String name = "";

    /** Reads {@code fingerprint[0, length)}. */
    public StatementNames read(byte[] fingerprint, int length) {
        tokens.start(fingerprint, length);
        names = new HashSet<>();
        called = new HashSet<>();
        everyColumn = false;
        expressionBegins = false;
        tokens.advance();
        begin();
        while (!tokens.atEnd()) {
            step();
        }
        tokens.release();
        return new StatementNames(names, called, everyColumn);
    }

    /** Reads the verb. Statements that are not listed here access whole rows, whatever they name. */
    private void begin() {
        switch (tokens.kind == Tokens.Kind.WORD ? tokens.upperCase() : "") {
            case "SELECT", "WITH", "VALUES", "UPDATE", "SET", "DO", "EXPLAIN", "DESCRIBE", "DESC" -> {}
            case "INSERT", "REPLACE" -> insert();
            default -> everyColumn |= !tokens.at('(');
        }
    }

    private void insert() {
        step();
        while (tokens.skip(
                StatementKeyword.LOW_PRIORITY,
                StatementKeyword.DELAYED,
                StatementKeyword.HIGH_PRIORITY,
                StatementKeyword.IGNORE,
                StatementKeyword.INTO)) {
            expressionBegins = false;
        }
        boolean named = false;
        while (tokens.atName() && (!named || tokens.isGlued())
                || tokens.at('.')
                || tokens.at('?') && tokens.isGlued()) {
            named = !tokens.at('.');
            step();
        }
        everyColumn |= !namesColumns();
    }

    /**
     * Returns whether columns follow, as in {@code (a, b)} or {@code SET a = …}, but not {@code (SELECT …)} or {@code
     * VALUES}.
     */
    private boolean namesColumns() {
        if (tokens.word == StatementKeyword.SET) {
            return true;
        }
        if (!tokens.at('(')) {
            return false;
        }
        step();
        return switch (tokens.word) {
            case SELECT, WITH, TABLE, VALUES -> false;
            default -> tokens.atName();
        };
    }

    private void step() {
        if (tokens.atName()) {
            nameOrKeyword();
            return;
        }
        if (tokens.at('*')) {
            everyColumn |= expressionBegins;
        } else if (tokens.at(';')) {
            everyColumn = true;
        }
        expressionBegins = tokens.at(',') || tokens.at('.');
        if (!tokens.at('.')) {
            name = "";
            database = "";
        }
        tokens.advance();
    }

    private void nameOrKeyword() {
        boolean qualified = !name.isEmpty() && database.isEmpty();
        String before = name;
        boolean keyword = tokens.kind == Tokens.Kind.WORD;
        expressionBegins = keyword && startsExpression(tokens.upperCase());
        everyColumn |= keyword && (tokens.word == StatementKeyword.NATURAL || tokens.word == StatementKeyword.TABLE);
        String whole = glued();
        boolean dotted = tokens.at('.');
        if (tokens.at('(')) {
            call(qualified ? before + '.' + whole : whole);
        }
        database = dotted && qualified ? before : "";
        name = dotted ? whole : "";
    }

    /**
     * Reads a name that continues after its digits, which are question marks. {@code k?} may also be the column k and
     * a number.
     */
    private String glued() {
        StringBuilder whole = new StringBuilder(add(TableName.folded(tokens.name())));
        tokens.advance();
        while (tokens.isGlued() && (tokens.at('?') || tokens.kind == Tokens.Kind.WORD) && !tokens.atEnd()) {
            whole.append(tokens.at('?') ? "?" : TableName.folded(tokens.name()));
            tokens.advance();
        }
        return add(whole.toString());
    }

    private String add(String found) {
        if (names.size() < MAX_NAMES) {
            names.add(found);
        } else {
            everyColumn = true;
        }
        return found;
    }

    private void call(String routine) {
        if (called.size() < MAX_NAMES) {
            called.add(routine);
        }
    }

    /** Returns whether a star after the word means all columns; after any other word it is a multiplication. */
    private static boolean startsExpression(String word) {
        return switch (word) {
            case "SELECT",
                    "ALL",
                    "DISTINCT",
                    "DISTINCTROW",
                    "HIGH_PRIORITY",
                    "STRAIGHT_JOIN",
                    "SQL_SMALL_RESULT",
                    "SQL_BIG_RESULT",
                    "SQL_BUFFER_RESULT",
                    "SQL_CACHE",
                    "SQL_NO_CACHE",
                    "SQL_CALC_FOUND_ROWS",
                    "RETURNING" -> true;
            default -> false;
        };
    }
}
