package io.tailrace.audit.mariadb;

import io.tailrace.lexer.ByteText;

/**
 * Locates the fields of a server_audit line:
 *
 * <pre>serverhost,user,host,connection,query,operation,database,object,code[,more]</pre>
 *
 * <p>Only a statement is quoted, so a user's name may contain commas and even resemble the rest of a line. Host names,
 * numbers and operations contain none. A reading is a position of {@code ,number,number,OPERATION,} whose remaining
 * fields fit the operation. A line with exactly one reading is unambiguous. Not thread-safe.
 */
public final class MariaDbRecord {

    private static final int MAX_READINGS = 16;
    private static final int MAX_COLUMNS_AFTER_CODE = 2;

    int serverHostFrom;
    int serverHostTo;
    int userFrom;
    int userTo;
    int hostFrom;
    int hostTo;
    int connectionFrom;
    int connectionTo;
    int queryFrom;
    int queryTo;
    int operationFrom;
    int operationTo;
    int databaseFrom;
    int databaseTo;
    /** Start of the object, or of the statement without its quotes. */
    int objectFrom;

    int objectTo;
    int codeFrom;
    int codeTo;
    int moreFrom;
    int moreTo;
    MariaDbOperation operation;
    /** The line has several readings, or none that fits strictly. */
    boolean ambiguous;

    private byte[] bytes;
    private int lineTo;

    /**
     * Locates the fields of a line after its time; returns false if it is not a record. {@code to} excludes the line
     * end.
     */
    public boolean read(byte[] line, int from, int to) {
        return readStrictly(line, from, to) || read(line, from, to, false);
    }

    /** Works like {@link #read}, but returns false if a quote in the statement is not escaped or a field does not fit. */
    boolean readStrictly(byte[] line, int from, int to) {
        return read(line, from, to, true);
    }

    private boolean read(byte[] line, int from, int to, boolean strict) {
        start(line, from, to);
        boolean found = serverHostTo < to && choose(strict);
        bytes = null;
        return found;
    }

    private void start(byte[] line, int from, int to) {
        bytes = line;
        lineTo = to;
        serverHostFrom = from;
        serverHostTo = comma(from);
    }

    /**
     * Locates the fields of a line that ends within its statement; returns false if it is not one. A database with a comma
     * is ambiguous, because the first part may also be the end of another reading.
     */
    public boolean readCut(byte[] line, int from, int to) {
        start(line, from, to);
        boolean found = serverHostTo < to && (chooseOpen(true) || chooseOpen(false));
        bytes = null;
        return found;
    }

    /** Chooses the first reading whose statement is not closed. */
    private boolean chooseOpen(boolean strict) {
        int anchor = nextAnchor(serverHostTo + 1);
        boolean others = false;
        for (int tries = 0; tries < MAX_READINGS && anchor >= 0; tries++) {
            if (openStatement(anchor, strict)) {
                ambiguous |= others;
                return true;
            }
            others |= strict && openStatement(anchor, false);
            anchor = nextAnchor(anchor + 1);
        }
        return false;
    }

    private boolean openStatement(int anchor, boolean strict) {
        takeOperation(anchor);
        databaseFrom = operationTo + 1;
        databaseTo = openingQuote() - 1;
        objectFrom = databaseTo + 2;
        objectTo = lineTo;
        code(lineTo, lineTo, lineTo, lineTo);
        ambiguous = comma(databaseFrom) < databaseTo;
        boolean open = objectFrom <= lineTo && escapedTo(objectFrom, objectTo) >= objectTo;
        return names(anchor) && operation.hasStatement() && open && !(strict && ambiguous);
    }

    /**
     * Chooses the first reading: what resembles one after it is part of a statement, or of the database of a login. In a
     * login, an earlier one may also be part of the user's name. But no account has such a name, so a client that guesses
     * the password of one can only choose the database: the last reading would hide whose password it was.
     * An earlier start of a statement may also belong to a database with a comma, which makes the line ambiguous.
     */
    private boolean choose(boolean strict) {
        int chosen = -1;
        int readings = 0;
        boolean others = false;
        int anchor = serverHostTo;
        for (int tries = 0; tries < MAX_READINGS; tries++) {
            anchor = nextAnchor(anchor + 1);
            if (anchor < 0) {
                break;
            }
            if (take(anchor, strict)) {
                readings++;
                chosen = chosen < 0 ? anchor : chosen;
                if (operation.hasStatement()) {
                    break;
                }
            } else {
                others |= strict && chosen < 0 && operation.hasStatement() && take(anchor, false);
            }
        }
        if (chosen < 0 || !take(chosen, strict)) {
            return false;
        }
        ambiguous = !strict || readings > 1 || others && operation.hasStatement();
        return true;
    }

    /** Returns the index of the comma before the next {@code number,number,OPERATION,}, or -1. */
    private int nextAnchor(int from) {
        for (int i = comma(from); i < lineTo; i = comma(i + 1)) {
            int connection = comma(i + 1);
            int query = connection < lineTo ? comma(connection + 1) : lineTo;
            if (query < lineTo && isNumber(i + 1, connection) && isNumber(connection + 1, query)) {
                int end = comma(query + 1);
                if (end < lineTo && MariaDbOperation.of(bytes, query + 1, end) != null) {
                    return i;
                }
            }
        }
        return -1;
    }

    private boolean take(int anchor, boolean strict) {
        takeOperation(anchor);
        boolean named = names(anchor);
        if (operation.hasStatement()) {
            return named && statement(strict);
        }
        return named && (operation.isWithoutObject() && emptyObject() || tail(strict));
    }

    /** Locates the ids of the connection and of the query, and the operation. */
    private void takeOperation(int anchor) {
        connectionFrom = anchor + 1;
        connectionTo = comma(connectionFrom);
        queryFrom = connectionTo + 1;
        queryTo = comma(queryFrom);
        operationFrom = queryTo + 1;
        operationTo = comma(operationFrom);
        operation = MariaDbOperation.of(bytes, operationFrom, operationTo);
    }

    /** Splits {@code user,host} at its last comma. */
    private boolean names(int to) {
        userFrom = serverHostTo + 1;
        hostTo = to;
        hostFrom = lastComma(userFrom, to) + 1;
        userTo = hostFrom - 1;
        return hostFrom > userFrom;
    }

    private boolean statement(boolean strict) {
        databaseFrom = operationTo + 1;
        int quote = openingQuote();
        int close = closingQuote();
        if (quote >= lineTo || close <= quote) {
            return false;
        }
        databaseTo = quote - 1;
        objectFrom = quote + 1;
        objectTo = close;
        return !strict || escapedTo(objectFrom, objectTo) == objectTo && comma(databaseFrom) == databaseTo;
    }

    /** Returns the index of the first quote after a comma from the database on, or the line's end. */
    private int openingQuote() {
        int quote = databaseFrom + 1;
        while (quote < lineTo && (bytes[quote] != '\'' || bytes[quote - 1] != ',')) {
            quote++;
        }
        return quote;
    }

    /**
     * Finds {@code ',code}, {@code ',code,more} or, as Amazon RDS for MySQL ends its statements since 5.7.34, {@code
     * ',code,,}; returns the index of the quote, or -1.
     */
    private int closingQuote() {
        int codeEnd = lineTo;
        for (int columns = 0; columns <= MAX_COLUMNS_AFTER_CODE && codeEnd > operationTo; columns++) {
            int before = lastComma(operationTo, codeEnd);
            if (before > operationTo && bytes[before - 1] == '\'' && isNumber(before + 1, codeEnd)) {
                int more = Math.min(codeEnd + 1, lineTo);
                code(before + 1, codeEnd, more, comma(more));
                return before - 1;
            }
            codeEnd = before;
        }
        return -1;
    }

    private void code(int from, int to, int extraFrom, int extraTo) {
        codeFrom = from;
        codeTo = to;
        moreFrom = extraFrom;
        moreTo = extraTo;
    }

    /**
     * Returns the index of the first quote without an escape, or {@code to}; {@code to + 1} if the last byte is the
     * start of an escape, so that a quote at {@code to} is part of the statement.
     */
    private int escapedTo(int from, int to) {
        int i = from;
        while (i < to && bytes[i] != '\'') {
            i += bytes[i] == '\\' ? 2 : 1;
        }
        return i;
    }

    /**
     * Reads {@code database,,code[,more]}; returns false if the line does not end so. A client without an account chooses the
     * database, which may contain commas: the last empty column with a number after it is the object.
     */
    private boolean emptyObject() {
        databaseFrom = operationTo + 1;
        for (int i = lineTo - 2; i >= databaseFrom; i--) {
            if (bytes[i] == ',' && bytes[i + 1] == ',') {
                int codeEnd = comma(i + 2);
                int more = Math.min(codeEnd + 1, lineTo);
                if (isNumber(i + 2, codeEnd)) {
                    databaseTo = i;
                    objectFrom = objectTo = i + 1;
                    code(i + 2, codeEnd, more, lineTo);
                    return comma(more) == lineTo;
                }
            }
        }
        return false;
    }

    /** Reads {@code database,object,code[,more]}. */
    private boolean tail(boolean strict) {
        databaseFrom = operationTo + 1;
        databaseTo = comma(databaseFrom);
        if (databaseTo == lineTo) {
            return false;
        }
        objectFrom = databaseTo + 1;
        objectTo = strict ? comma(objectFrom) : lastComma(objectFrom, lineTo);
        if (objectTo < objectFrom || objectTo == lineTo) {
            return false;
        }
        int codeEnd = comma(objectTo + 1);
        code(objectTo + 1, codeEnd, Math.min(codeEnd + 1, lineTo), lineTo);
        boolean codeFits = codeFrom == codeTo || isNumber(codeFrom, codeTo);
        return codeFits && comma(moreFrom) == lineTo;
    }

    private boolean isNumber(int from, int to) {
        return ByteText.unsigned(bytes, from, to) >= 0;
    }

    /** Returns the index of the next comma, or the line's end. */
    private int comma(int from) {
        int i = from;
        while (i < lineTo && bytes[i] != ',') {
            i++;
        }
        return i;
    }

    /** Returns the index of the last comma before {@code to}, or {@code from - 1}. */
    private int lastComma(int from, int to) {
        int i = to - 1;
        while (i >= from && bytes[i] != ',') {
            i--;
        }
        return i;
    }
}
