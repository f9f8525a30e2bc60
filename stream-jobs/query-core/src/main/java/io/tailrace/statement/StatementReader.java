package io.tailrace.statement;

import io.tailrace.statement.ClauseReader.Phase;
import io.tailrace.statement.ClauseReader.Role;

/**
 * Tells what a statement does to which tables. Reads masked text: without literals and comments. Never fails; takes time
 * in proportion to the text. Syntax is that of MySQL 9 and MariaDB 12 and what came before.
 *
 * <p>Metadata counts as the table: DESCRIBE reads it, ALTER writes it. EXPLAIN reads what its statement would write, and
 * so does the definition of a stored program or trigger. Tables that foreign keys name are not told. Not thread-safe.
 */
public final class StatementReader {

    /** What is read of a text, bytes. */
    private static final int LONGEST = 1 << 20;

    private final Tokens tokens = new Tokens();
    private final References references = new References();
    private final ClauseReader clauses = new ClauseReader(tokens, references);
    private String verb = "";
    /** The text is of a stored program or block: BEGIN opens a block, not a transaction. */
    private boolean program;

    /** Reads {@code masked[0, length)}. */
    public StatementTables read(byte[] masked, int length) {
        tokens.start(masked, Math.min(length, LONGEST));
        references.start();
        if (length > LONGEST) {
            references.incomplete();
        }
        verb = "";
        program = false;
        boolean common = false;
        tokens.advance();
        while (!tokens.atEnd()) {
            common |= tokens.word == Word.WITH;
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

    private void verb(String found) {
        if (verb.isEmpty()) {
            verb = found;
        }
    }

    private void word(Word word) {
        if (word == Word.WITH) {
            clauses.read(Phase.QUERY_START, Role.READ);
            return;
        }
        String name = tokens.upperCase();
        if (word == Word.SELECT || word == Word.VALUES || word == Word.TABLE) {
            verb(name);
            clauses.read(Phase.QUERY_START, Role.READ);
            return;
        }
        tokens.advance();
        if (word == Word.SET && tokens.word == Word.STATEMENT) {
            clauses.read(Phase.SETTINGS, Role.READ);
            if (tokens.atEnd()) {
                verb(name);
            }
            return;
        }
        verb(name);
        if (!changesRows(word) && !definesTables(word) && !maintainsTables(word)) {
            other(word);
        }
    }

    private boolean changesRows(Word word) {
        switch (word) {
            case INSERT, REPLACE -> insert();
            case UPDATE -> update();
            case DELETE -> delete();
            case LOAD -> load();
            case TRUNCATE -> {
                tokens.skip(Word.TABLE);
                writeTables();
            }
            case SET, DO, CALL -> clauses.read(Phase.EXPRESSION, Role.READ);
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean definesTables(Word word) {
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

    private boolean maintainsTables(Word word) {
        switch (word) {
            case LOCK -> lock();
            case ANALYZE -> analyze();
            case OPTIMIZE, REPAIR -> maintain(true);
            case CHECK, CHECKSUM, FLUSH -> maintain(false);
            case CACHE -> {
                if (tokens.skip(Word.INDEX)) {
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

    private void other(Word word) {
        switch (word) {
            case EXPLAIN, DESCRIBE, DESC -> explain();
            case HANDLER -> {
                clauses.readTable();
                ignoreRest();
            }
            case SHOW -> show();
            case BEGIN -> {
                program |= tokens.skip(Word.NOT) && tokens.skip(Word.ATOMIC);
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
        skipAll(Word.LOW_PRIORITY, Word.DELAYED, Word.HIGH_PRIORITY, Word.IGNORE, Word.INTO);
        clauses.writeTable();
        clauses.read(Phase.INSERTED, Role.READ);
    }

    private void skipAll(Word... words) {
        boolean skipped = true;
        while (skipped) {
            skipped = tokens.skip(words);
        }
    }

    private void update() {
        skipAll(Word.LOW_PRIORITY, Word.IGNORE);
        clauses.read(Phase.FACTOR, Role.UPDATED);
        references.finishUpdate();
    }

    private void delete() {
        skipAll(Word.LOW_PRIORITY, Word.QUICK, Word.IGNORE, Word.HISTORY);
        boolean single = tokens.skip(Word.FROM);
        if (!single) {
            targets();
        }
        clauses.read(Phase.FACTOR, single ? Role.DELETED : Role.TARGETED);
        references.finishDelete();
    }

    /** {@code DELETE a, b.* FROM …}. */
    private void targets() {
        do {
            tokens.skip(Word.IGNORE);
            TableName name = clauses.tableName();
            if (name != null) {
                references.target(name);
            }
        } while (nextOfList());
        tokens.skip(Word.FROM);
    }

    private boolean nextOfList() {
        boolean comma = tokens.at(',');
        if (comma) {
            tokens.advance();
        }
        return comma;
    }

    private void load() {
        if (tokens.skip(Word.INDEX)) {
            tokens.skip(Word.INTO);
            tokens.skip(Word.CACHE);
            readTables();
            ignoreRest();
            return;
        }
        while (!tokens.atEnd() && !tokens.at(';') && !tokens.skip(Word.INTO)) {
            tokens.advance();
        }
        if (tokens.skip(Word.TABLE)) {
            clauses.writeTable();
        }
        clauses.read(Phase.EXPRESSION, Role.READ);
    }

    /** CREATE or ALTER: options and {@code DEFINER = a@b} may stand before the kind of object. */
    private void create(Phase afterTable) {
        while (!tokens.atEnd() && !tokens.at(';')) {
            Word object = tokens.word;
            tokens.advance();
            switch (object) {
                case TABLE -> {
                    define(afterTable);
                    return;
                }
                case VIEW, SEQUENCE -> {
                    define(Phase.DEFINITION);
                    return;
                }
                case INDEX -> {
                    writeTableBehindOn();
                    ignoreRest();
                    return;
                }
                case TRIGGER -> {
                    writeTableBehindOn();
                    body();
                    return;
                }
                case PROCEDURE, FUNCTION -> {
                    skipAll(Word.IF, Word.NOT, Word.EXISTS);
                    clauses.tableName();
                    body();
                    return;
                }
                case EVENT -> {
                    skipTo(Word.DO);
                    tokens.skip(Word.DO);
                    body();
                    return;
                }
                case PACKAGE -> {
                    ignoreProgram();
                    return;
                }
                case DATABASE, SCHEMA -> {
                    ignoreRest();
                    return;
                }
                default -> {}
            }
        }
    }

    private void define(Phase behind) {
        skipAll(Word.IF, Word.NOT, Word.EXISTS);
        clauses.writeTable();
        if (tokens.skip(Word.LIKE)) {
            clauses.readTable();
        }
        clauses.read(behind, Role.READ);
    }

    /** {@code INDEX i ON t} and {@code TRIGGER a BEFORE INSERT ON t}. */
    private void writeTableBehindOn() {
        skipTo(Word.ON);
        if (tokens.skip(Word.ON)) {
            clauses.writeTable();
        }
    }

    private void skipTo(Word word) {
        while (!tokens.atEnd() && !tokens.at(';') && tokens.word != word) {
            tokens.advance();
        }
    }

    /** Goes to the first statement of a program that is defined: its statements are read like those of a block. */
    private void body() {
        references.define();
        program = true;
        skipToStatement();
    }

    /** Over parameters, characteristics and conditions. */
    private void skipToStatement() {
        int depth = 0;
        while (!tokens.atEnd() && !tokens.at(';') && (depth > 0 || !startsStatement())) {
            depth += tokens.at('(') ? 1 : tokens.at(')') ? -1 : 0;
            tokens.advance();
        }
    }

    /** {@code SET(} is a type. */
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

    /** A variable, {@code CURSOR FOR SELECT …}, or {@code HANDLER FOR NOT FOUND SET …}. */
    private void declare() {
        while (!tokens.atEnd() && !tokens.at(';') && !tokens.at('(')) {
            if (tokens.skip(Word.CURSOR)) {
                tokens.skip(Word.FOR);
                return;
            }
            if (tokens.skip(Word.HANDLER)) {
                skipToStatement();
                return;
            }
            tokens.advance();
        }
        clauses.read(Phase.EXPRESSION, Role.READ);
    }

    /** The semicolons of a stored program are its own. */
    private void ignoreProgram() {
        ignoreRest();
        while (tokens.at(';')) {
            tokens.advance();
            ignoreRest();
        }
    }

    private void drop() {
        tokens.skip(Word.TEMPORARY);
        if (tokens.skip(Word.TABLE, Word.TABLES, Word.VIEW, Word.SEQUENCE)) {
            skipAll(Word.IF, Word.EXISTS);
            writeTables();
        } else if (tokens.word == Word.INDEX) {
            writeTableBehindOn();
        }
        ignoreRest();
    }

    private void rename() {
        if (tokens.skip(Word.TABLE, Word.TABLES)) {
            do {
                skipAll(Word.IF, Word.EXISTS);
                clauses.writeTable();
                wait(Word.WAIT, Word.NOWAIT);
                if (tokens.skip(Word.TO)) {
                    clauses.writeTable();
                }
            } while (nextOfList());
        }
        ignoreRest();
    }

    /** MariaDB's {@code WAIT 5} or {@code NOWAIT}. */
    private void wait(Word... words) {
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
        if (tokens.skip(Word.TABLE, Word.TABLES)) {
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
            write |= tokens.word == Word.WRITE;
            tokens.advance();
        }
        if (name != null && write) {
            references.written(name);
        } else if (name != null) {
            references.read(name);
        }
    }

    /** A statement of its own, or MariaDB's {@code ANALYZE FORMAT=JSON SELECT …}, which runs what it explains. */
    private void analyze() {
        skipAll(Word.NO_WRITE_TO_BINLOG, Word.LOCAL);
        if (tokens.skip(Word.TABLE, Word.TABLES)) {
            readTables();
            ignoreRest();
        } else {
            skipFormat();
        }
    }

    private void skipFormat() {
        if (tokens.skip(Word.FORMAT) && tokens.at('=')) {
            tokens.advance();
            tokens.advance();
        }
    }

    private void maintain(boolean write) {
        skipAll(Word.NO_WRITE_TO_BINLOG, Word.LOCAL);
        if (tokens.skip(Word.TABLE, Word.TABLES) && tokens.word != Word.WITH && tokens.atName()) {
            if (write) {
                writeTables();
            } else {
                readTables();
            }
        }
        ignoreRest();
    }

    /** {@code EXPLAIN FORMAT=JSON INTO @a FOR SCHEMA b SELECT …}, or {@code DESCRIBE t}. */
    private void explain() {
        skipAll(Word.EXTENDED, Word.PARTITIONS, Word.ANALYZE);
        skipFormat();
        if (tokens.skip(Word.INTO)) {
            tokens.advance();
            tokens.advance();
        }
        if (tokens.skip(Word.FOR)) {
            boolean statement = tokens.skip(Word.SCHEMA, Word.DATABASE);
            tokens.advance();
            if (!statement) {
                ignoreRest();
                return;
            }
        }
        switch (tokens.word) {
            case SELECT, INSERT, REPLACE, UPDATE, DELETE, WITH, TABLE, VALUES -> references.explain();
            default -> {
                if (tokens.atName()) {
                    clauses.readTable();
                    ignoreRest();
                }
            }
        }
    }

    private void show() {
        boolean create = tokens.word == Word.CREATE;
        while (!tokens.atEnd() && !tokens.at(';')) {
            Word word = tokens.word;
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
                case PROCEDURE, FUNCTION, TRIGGER, EVENT, DATABASE, SCHEMA, TABLES, FROM, IN, LIKE, WHERE -> {
                    ignoreRest();
                    return;
                }
                default -> {}
            }
        }
    }

    /** {@code SHOW COLUMNS FROM t FROM db}. */
    private void showTable() {
        if (tokens.skip(Word.FROM, Word.IN)) {
            TableName name = clauses.tableName();
            if (tokens.skip(Word.FROM, Word.IN)) {
                String database = tokens.name();
                tokens.advance();
                name = name == null ? null : new TableName(database, name.table());
            }
            if (name != null) {
                references.read(name);
            }
        }
        ignoreRest();
    }
}
