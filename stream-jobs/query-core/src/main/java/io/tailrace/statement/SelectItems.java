package io.tailrace.statement;

import java.util.Set;

/**
 * Tracks the list of a SELECT, to determine at the end of the text whether a FROM must follow: a list that names columns,
 * or ends with an operator, was cut.
 */
final class SelectItems {

    /** Words that are no columns, although they can be an item of their own. */
    private static final Set<String> CONSTANTS = Set.of(
            "CURRENT_DATE",
            "CURRENT_ROLE",
            "CURRENT_TIME",
            "CURRENT_TIMESTAMP",
            "CURRENT_USER",
            "FALSE",
            "LOCALTIME",
            "LOCALTIMESTAMP",
            "MAXVALUE",
            "NULL",
            "ROWNUM",
            "SYSDATE",
            "SYSTIMESTAMP",
            "TRUE",
            "UTC_DATE",
            "UTC_TIME",
            "UTC_TIMESTAMP");

    private static final Set<String> OPTIONS = Set.of(
            "ALL",
            "DISTINCT",
            "DISTINCTROW",
            "HIGH_PRIORITY",
            "SQL_BIG_RESULT",
            "SQL_BUFFER_RESULT",
            "SQL_CACHE",
            "SQL_CALC_FOUND_ROWS",
            "SQL_NO_CACHE",
            "SQL_SMALL_RESULT",
            "STRAIGHT_JOIN");

    private static final String OPERATORS = ",+-*/%<>=!&|^~.";

    /** Number of tokens of the current item, apart from options. */
    private int length;
    /** The item is a name so far. */
    private boolean name;
    /** The previous token is a name that a variable's {@code @} does not precede. */
    private boolean mayBeTable;

    private boolean afterPoint;
    private boolean afterAt;
    private boolean namesColumns;
    private boolean namesEveryColumn;
    private boolean open;

    /** Starts a list after SELECT. */
    void start() {
        item();
        namesColumns = false;
        namesEveryColumn = false;
        open = true;
    }

    private void item() {
        length = 0;
        name = false;
        mayBeTable = false;
        afterPoint = false;
        afterAt = false;
    }

    /** Reads a pair of parentheses. */
    void parenthesis() {
        length++;
        name = false;
        mayBeTable = false;
        afterPoint = false;
        open = false;
    }

    /** Reads the current token, which is no parenthesis. */
    void token(Tokens tokens) {
        open = tokens.symbol != 0 && OPERATORS.indexOf(tokens.symbol) >= 0;
        if (tokens.at(',')) {
            endItem();
        } else if (tokens.atName()) {
            name(tokens);
        } else {
            namesEveryColumn |= tokens.at('*') && (length == 0 || afterPoint);
            afterPoint = tokens.at('.') && mayBeTable;
            afterAt = tokens.at('@') || afterAt && tokens.at('.');
            mayBeTable = false;
            name &= tokens.at('.');
            length++;
        }
    }

    private void name(Tokens tokens) {
        boolean called = tokens.following() == '(';
        String word = tokens.kind == Tokens.Kind.WORD ? tokens.upperCase() : "";
        if (length == 0 && OPTIONS.contains(word)) {
            open = true;
            return;
        }
        boolean alias = tokens.word == StatementKeyword.AS;
        if (alias) {
            namesColumns |= name && length == 1;
            open = true;
        }
        namesColumns |= afterPoint && !called;
        mayBeTable = !afterAt && !called && !alias;
        name = length == 0 && !called && !CONSTANTS.contains(word);
        afterPoint = false;
        afterAt = false;
        length++;
    }

    private void endItem() {
        namesColumns |= name && length == 1;
        item();
    }

    /** Returns whether no statement can end with the list: after an operator, or with all columns of a table. */
    boolean isCut() {
        return open || namesEveryColumn;
    }

    /** Ends the list; returns whether it contains names. Without FROM, only variables of a stored program have names. */
    boolean hasNames() {
        endItem();
        return namesColumns;
    }
}
