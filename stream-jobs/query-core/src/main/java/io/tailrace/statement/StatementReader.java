package io.tailrace.statement;

import io.tailrace.statement.ClauseReader.Phase;
import io.tailrace.statement.ClauseReader.Role;

/**
 * Determines what a statement does to which tables. The input is masked text, without literals and comments. Never
 * fails; the time is proportional to the length of the text. Supports the syntax of MySQL up to 9 and MariaDB up to
 * 12.
 *
 * <p>Metadata counts as the table: DESCRIBE reads it, ALTER writes it. Tables that the statement of an EXPLAIN, a
 * stored program or a trigger would write count as read. Tables that foreign keys reference are not reported. Not
 * thread-safe.
 */
public final class StatementReader {

    /** Length of the text that is read, bytes. */
    private static final int MAX_LENGTH = 1 << 20;

    private final Tokens tokens = new Tokens();
    private final TableReferences references = new TableReferences();
    private final ClauseReader clauses = new ClauseReader(tokens, references);
    private String verb = "";
    /** The text is a stored program or block: BEGIN opens a block, not a transaction. */
    private boolean program;

    /** Reads {@code masked[0, length)}. */
    public StatementTables read(byte[] masked, int length) {
        tokens.start(masked, Math.min(length, MAX_LENGTH));
        references.start();
        if (length > MAX_LENGTH) {
            references.incomplete();
        }
        verb = "";
        program(false);
        boolean common = false;
        tokens.advance();
        while (!tokens.atEnd()) {
            common |= tokens.word == StatementKeyword.WITH;
            statement();
        }
        tokens.release();
        return references.tables(verb.isEmpty() && common ? "WITH" : verb);
    }

    /** Reads at least one token. */
    private void statement() {
        if (tokens.at(';')) {
            references.endStatement();
            tokens.advance();
        } else if (tokens.at('(')) {
            clauses.read(Phase.QUERY_START, Role.READ);
            verb(clauses.queryVerb());
        } else if (tokens.kind != Tokens.Kind.WORD) {
            tokens.advance();
        } else if (tokens.following() == ':' && (program || verb.isEmpty())) {
            tokens.advance();
            tokens.advance();
        } else {
            word(tokens.word);
        }
    }

    private void program(boolean isProgram) {
        program = isProgram;
        clauses.program(isProgram);
    }

    private void verb(String found) {
        if (verb.isEmpty()) {
            verb = found;
        }
    }

    private void word(StatementKeyword word) {
        if (word == StatementKeyword.WITH) {
            clauses.read(Phase.QUERY_START, Role.READ);
            if (clauses.endsWithParentheses()) {
                verb("SELECT");
            }
            return;
        }
        String name = tokens.upperCase();
        if (word == StatementKeyword.SELECT || word == StatementKeyword.VALUES || word == StatementKeyword.TABLE) {
            verb(name);
            clauses.read(Phase.QUERY_START, Role.READ);
            return;
        }
        tokens.advance();
        if (word == StatementKeyword.SET && tokens.word == StatementKeyword.STATEMENT) {
            clauses.read(Phase.SETTINGS, Role.READ);
            if (tokens.atEnd()) {
                verb(name);
            }
            return;
        }
        if (word == StatementKeyword.DESC || word == StatementKeyword.DESCRIBE) {
            verb(explain() ? StatementKeyword.EXPLAIN.name() : name);
            return;
        }
        verb(name);
        if (!changesRows(word) && !definesTables(word) && !maintainsTables(word)) {
            other(word);
        }
    }

    private boolean changesRows(StatementKeyword word) {
        switch (word) {
            case INSERT, REPLACE -> insert();
            case UPDATE -> update();
            case DELETE -> delete();
            case LOAD -> load();
            case TRUNCATE -> {
                tokens.skip(StatementKeyword.TABLE);
                writeTables();
            }
            case SET, DO, CALL -> clauses.read(Phase.EXPRESSION, Role.READ);
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean definesTables(StatementKeyword word) {
        switch (word) {
            case CREATE -> create(Phase.DEFINITION);
            case ALTER -> create(Phase.ALTERATION);
            case DROP -> drop();
            case RENAME -> rename();
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean maintainsTables(StatementKeyword word) {
        switch (word) {
            case LOCK -> lock();
            case ANALYZE -> analyze();
            case OPTIMIZE, REPAIR -> maintain(true);
            case CHECK, CHECKSUM, FLUSH -> maintain(false);
            case CACHE -> {
                if (tokens.skip(StatementKeyword.INDEX)) {
                    readTables();
                }
                ignoreRest();
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void other(StatementKeyword word) {
        switch (word) {
            case EXPLAIN -> explain();
            case HANDLER -> {
                clauses.readTable();
                ignoreRest();
            }
            case SHOW -> show();
            case BEGIN -> {
                program(program || tokens.skip(StatementKeyword.NOT) && tokens.skip(StatementKeyword.ATOMIC));
                if (!program) {
                    ignoreRest();
                }
            }
            case DECLARE -> declare();
            case RETURN -> clauses.read(Phase.EXPRESSION, Role.READ);
            case IF, ELSEIF, WHILE, CASE, WHEN, FOR, UNTIL -> clauses.read(Phase.CONDITION, Role.READ);
            case ELSE, LOOP, REPEAT -> {}
            default -> ignoreRest();
        }
    }

    private void ignoreRest() {
        clauses.read(Phase.IGNORED, Role.READ);
    }

    private void insert() {
        skipAll(
                StatementKeyword.LOW_PRIORITY,
                StatementKeyword.DELAYED,
                StatementKeyword.HIGH_PRIORITY,
                StatementKeyword.IGNORE,
                StatementKeyword.INTO);
        clauses.writeTable();
        clauses.read(Phase.INSERTED, Role.READ);
    }

    private void skipAll(StatementKeyword... words) {
        boolean skipped = true;
        while (skipped) {
            skipped = tokens.skip(words);
        }
    }

    private void update() {
        skipAll(StatementKeyword.LOW_PRIORITY, StatementKeyword.IGNORE);
        clauses.read(Phase.FACTOR, Role.UPDATED);
        references.finishUpdate();
    }

    private void delete() {
        skipAll(
                StatementKeyword.LOW_PRIORITY,
                StatementKeyword.QUICK,
                StatementKeyword.IGNORE,
                StatementKeyword.HISTORY);
        boolean single = tokens.skip(StatementKeyword.FROM);
        if (!single) {
            targets();
        }
        clauses.read(Phase.FACTOR, single ? Role.DELETED : Role.TARGETED);
        references.finishDelete();
    }

    /** Reads {@code DELETE a, b.* FROM …}. */
    private void targets() {
        do {
            tokens.skip(StatementKeyword.IGNORE);
            TableName name = clauses.tableName();
            if (name != null) {
                references.target(name);
            }
        } while (nextOfList());
        tokens.skip(StatementKeyword.FROM);
    }

    private boolean nextOfList() {
        boolean comma = tokens.at(',');
        if (comma) {
            tokens.advance();
        }
        return comma;
    }

    private void load() {
        if (tokens.skip(StatementKeyword.INDEX)) {
            tokens.skip(StatementKeyword.INTO);
            tokens.skip(StatementKeyword.CACHE);
            readTables();
            ignoreRest();
            return;
        }
        while (!tokens.atEnd() && !tokens.at(';') && !tokens.skip(StatementKeyword.INTO)) {
            tokens.advance();
        }
        if (tokens.skip(StatementKeyword.TABLE)) {
            clauses.writeTable();
        }
        clauses.read(Phase.EXPRESSION, Role.READ);
    }

    /** Reads CREATE or ALTER: options and {@code DEFINER = a@b} may precede the kind of object. */
    private void create(Phase afterTable) {
        boolean read = false;
        while (!read && !tokens.atEnd() && !tokens.at(';')) {
            StatementKeyword object = tokens.word;
            tokens.advance();
            read = createObject(object, afterTable);
        }
    }

    /** Reads what follows the kind of object; returns whether the word is one. */
    private boolean createObject(StatementKeyword object, Phase afterTable) {
        switch (object) {
            case TABLE -> define(afterTable);
            case VIEW, SEQUENCE -> define(Phase.DEFINITION);
            case INDEX -> {
                writeTableAfterOn();
                ignoreRest();
            }
            case TRIGGER -> {
                writeTableAfterOn();
                body();
            }
            case PROCEDURE, FUNCTION -> {
                skipAll(StatementKeyword.IF, StatementKeyword.NOT, StatementKeyword.EXISTS);
                clauses.tableName();
                body();
            }
            case EVENT -> {
                skipTo(StatementKeyword.DO);
                tokens.skip(StatementKeyword.DO);
                body();
            }
            case PACKAGE -> ignoreProgram();
            case DATABASE, SCHEMA -> ignoreRest();
            default -> {
                return false;
            }
        }
        return true;
    }

    private void define(Phase after) {
        skipAll(StatementKeyword.IF, StatementKeyword.NOT, StatementKeyword.EXISTS);
        clauses.writeTable();
        if (tokens.skip(StatementKeyword.LIKE)) {
            clauses.readTable();
        }
        clauses.read(after, Role.READ);
    }

    /** Reads {@code INDEX i ON t} and {@code TRIGGER a BEFORE INSERT ON t}. */
    private void writeTableAfterOn() {
        skipTo(StatementKeyword.ON);
        if (tokens.skip(StatementKeyword.ON)) {
            clauses.writeTable();
        }
    }

    private void skipTo(StatementKeyword word) {
        while (!tokens.atEnd() && !tokens.at(';') && tokens.word != word) {
            tokens.advance();
        }
    }

    /** Skips to the first statement of a program that is defined: its statements are read like those of a block. */
    private void body() {
        references.define();
        program(true);
        skipToStatement();
    }

    /** Skips parameters, characteristics and conditions. */
    private void skipToStatement() {
        int depth = 0;
        while (!tokens.atEnd() && !tokens.at(';') && (depth > 0 || !startsStatement())) {
            depth += tokens.at('(') ? 1 : tokens.at(')') ? -1 : 0;
            tokens.advance();
        }
    }

    /** Returns whether a statement starts here; {@code SET(} is a type. */
    private boolean startsStatement() {
        return switch (tokens.word) {
            case BEGIN,
                    SELECT,
                    INSERT,
                    REPLACE,
                    UPDATE,
                    DELETE,
                    CALL,
                    DO,
                    DROP,
                    IF,
                    CASE,
                    LOAD,
                    LOOP,
                    WHILE,
                    REPEAT,
                    RETURN,
                    TRUNCATE,
                    WITH -> true;
            case SET -> tokens.following() != '(';
            default -> false;
        };
    }

    /** Reads the declaration of a variable, {@code CURSOR FOR SELECT …}, or {@code HANDLER FOR NOT FOUND SET …}. */
    private void declare() {
        while (!tokens.atEnd() && !tokens.at(';') && !tokens.at('(')) {
            if (tokens.skip(StatementKeyword.CURSOR)) {
                tokens.skip(StatementKeyword.FOR);
                return;
            }
            if (tokens.skip(StatementKeyword.HANDLER)) {
                skipToStatement();
                return;
            }
            tokens.advance();
        }
        clauses.read(Phase.EXPRESSION, Role.READ);
    }

    /** Skips a stored program, including its semicolons. */
    private void ignoreProgram() {
        ignoreRest();
        while (tokens.at(';')) {
            tokens.advance();
            ignoreRest();
        }
    }

    private void drop() {
        tokens.skip(StatementKeyword.TEMPORARY);
        if (tokens.skip(
                StatementKeyword.TABLE, StatementKeyword.TABLES, StatementKeyword.VIEW, StatementKeyword.SEQUENCE)) {
            skipAll(StatementKeyword.IF, StatementKeyword.EXISTS);
            writeTables();
        } else if (tokens.word == StatementKeyword.INDEX) {
            writeTableAfterOn();
        }
        ignoreRest();
    }

    private void rename() {
        if (tokens.skip(StatementKeyword.TABLE, StatementKeyword.TABLES)) {
            do {
                skipAll(StatementKeyword.IF, StatementKeyword.EXISTS);
                clauses.writeTable();
                wait(StatementKeyword.WAIT, StatementKeyword.NOWAIT);
                if (tokens.skip(StatementKeyword.TO)) {
                    clauses.writeTable();
                }
            } while (nextOfList());
        }
        ignoreRest();
    }

    /** Reads MariaDB's {@code WAIT 5} or {@code NOWAIT}. */
    private void wait(StatementKeyword... words) {
        if (tokens.skip(words) && tokens.at('?')) {
            tokens.advance();
        }
    }

    private void writeTables() {
        do {
            clauses.writeTable();
        } while (nextOfList());
    }

    private void readTables() {
        do {
            clauses.readTable();
        } while (nextOfList());
    }

    private void lock() {
        if (tokens.skip(StatementKeyword.TABLE, StatementKeyword.TABLES)) {
            do {
                lockedTable();
            } while (nextOfList());
        }
        ignoreRest();
    }

    private void lockedTable() {
        TableName name = clauses.tableName();
        boolean write = false;
        while (tokens.kind == Tokens.Kind.WORD || tokens.kind == Tokens.Kind.QUOTED) {
            write |= tokens.word == StatementKeyword.WRITE;
            tokens.advance();
        }
        if (name != null && write) {
            references.written(name);
        } else if (name != null) {
            references.read(name);
        }
    }

    /**
     * Reads ANALYZE TABLE, or MariaDB's {@code ANALYZE FORMAT=JSON SELECT …}, which runs the statement that it
     * explains.
     */
    private void analyze() {
        skipAll(StatementKeyword.NO_WRITE_TO_BINLOG, StatementKeyword.LOCAL);
        if (tokens.skip(StatementKeyword.TABLE, StatementKeyword.TABLES)) {
            readTables();
            ignoreRest();
        } else {
            skipFormat();
        }
    }

    private void skipFormat() {
        if (tokens.skip(StatementKeyword.FORMAT) && tokens.at('=')) {
            tokens.advance();
            tokens.advance();
        }
    }

    private void maintain(boolean write) {
        skipAll(StatementKeyword.NO_WRITE_TO_BINLOG, StatementKeyword.LOCAL);
        if (tokens.skip(StatementKeyword.TABLE, StatementKeyword.TABLES)
                && tokens.word != StatementKeyword.WITH
                && tokens.atName()) {
            if (write) {
                writeTables();
            } else {
                readTables();
            }
        }
        ignoreRest();
    }

    /**
     * Reads {@code EXPLAIN FORMAT=JSON INTO @a FOR SCHEMA b} before a statement, or {@code DESCRIBE t}. Returns whether a
     * statement follows.
     */
    private boolean explain() {
        skipAll(StatementKeyword.EXTENDED, StatementKeyword.PARTITIONS, StatementKeyword.ANALYZE);
        skipFormat();
        if (tokens.skip(StatementKeyword.INTO)) {
            tokens.advance();
            tokens.advance();
        }
        if (tokens.skip(StatementKeyword.FOR)) {
            boolean statement = tokens.skip(StatementKeyword.SCHEMA, StatementKeyword.DATABASE);
            tokens.advance();
            if (!statement) {
                ignoreRest();
                return false;
            }
        }
        boolean statement = tokens.at('(')
                || switch (tokens.word) {
                    case SELECT, INSERT, REPLACE, UPDATE, DELETE, WITH, TABLE, VALUES -> true;
                    default -> false;
                };
        if (statement) {
            references.explain();
        } else if (tokens.atName()) {
            clauses.readTable();
            ignoreRest();
        }
        return statement;
    }

    private void show() {
        boolean create = tokens.word == StatementKeyword.CREATE;
        while (!tokens.atEnd() && !tokens.at(';')) {
            StatementKeyword word = tokens.word;
            tokens.advance();
            switch (word) {
                case TABLE, VIEW, SEQUENCE -> {
                    if (create) {
                        clauses.readTable();
                        ignoreRest();
                        return;
                    }
                }
                case COLUMNS, FIELDS, INDEX, INDEXES, KEYS -> {
                    showTable();
                    return;
                }
                case PROCEDURE, FUNCTION, TRIGGER, EVENT, DATABASE, SCHEMA, TABLES, FROM, IN, LIKE -> {
                    condition();
                    return;
                }
                case WHERE -> {
                    clauses.read(Phase.EXPRESSION, Role.READ);
                    return;
                }
                default -> {}
            }
        }
    }

    /** Reads the condition of a SHOW, which may contain subqueries. */
    private void condition() {
        skipTo(StatementKeyword.WHERE);
        clauses.read(Phase.EXPRESSION, Role.READ);
    }

    /** Reads {@code SHOW COLUMNS FROM t FROM db}. */
    private void showTable() {
        if (tokens.skip(StatementKeyword.FROM, StatementKeyword.IN)) {
            TableName name = clauses.tableName();
            if (tokens.skip(StatementKeyword.FROM, StatementKeyword.IN)) {
                String database = tokens.name();
                tokens.advance();
                name = name == null ? null : new TableName(database, name.table());
            }
            if (name != null) {
                references.read(name);
            }
        }
        condition();
    }
}
