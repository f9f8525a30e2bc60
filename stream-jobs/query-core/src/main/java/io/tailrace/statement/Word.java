package io.tailrace.statement;

import io.tailrace.lexer.ByteText;
import java.util.Locale;

/** The keywords that tell where a statement names tables. */
enum Word {
    ALL,
    ALTER,
    ANALYZE,
    AS,
    ATOMIC,
    BEGIN,
    CACHE,
    CALL,
    CASE,
    CHECK,
    CHECKSUM,
    COLUMN,
    COLUMNS,
    CONCURRENT,
    CONNECTION,
    CREATE,
    CROSS,
    DATABASE,
    DATA,
    DELAYED,
    DELETE,
    DESC,
    DESCRIBE,
    DISTINCT,
    DO,
    DROP,
    DUAL,
    DUPLICATE,
    ELSE,
    ELSEIF,
    EVENT,
    EXCEPT,
    EXISTS,
    EXPLAIN,
    EXTENDED,
    FIELDS,
    FLUSH,
    FOR,
    FORCE,
    FORMAT,
    FROM,
    FULL,
    FUNCTION,
    GROUP,
    HANDLER,
    HAVING,
    HIGH_PRIORITY,
    HISTORY,
    IF,
    IGNORE,
    IN,
    INDEX,
    INDEXES,
    INNER,
    INSERT,
    INTERSECT,
    INTO,
    JOIN,
    KEY,
    KEYS,
    LATERAL,
    LEFT,
    LIKE,
    LIMIT,
    LOAD,
    LOCAL,
    LOCK,
    LOOP,
    LOW_PRIORITY,
    NATURAL,
    NO_WRITE_TO_BINLOG,
    NOT,
    NOWAIT,
    OJ,
    ON,
    OPTIMIZE,
    ORDER,
    OUTER,
    PACKAGE,
    PARTITION,
    PARTITIONS,
    PORTION,
    PROCEDURE,
    QUICK,
    READ,
    RECURSIVE,
    RENAME,
    REPAIR,
    REPEAT,
    REPLACE,
    RETURNING,
    RIGHT,
    SCHEMA,
    SELECT,
    SEQUENCE,
    SET,
    SHOW,
    STATEMENT,
    STRAIGHT_JOIN,
    SYSTEM_TIME,
    TABLE,
    TABLES,
    TEMPORARY,
    THEN,
    TO,
    TRIGGER,
    TRUNCATE,
    UNION,
    UPDATE,
    USE,
    USING,
    VALUE,
    VALUES,
    VIEW,
    WAIT,
    WHEN,
    WHERE,
    WHILE,
    WINDOW,
    WITH,
    WRITE,
    XML,
    /** Any other word, and every quoted name. */
    OTHER;

    private static final int SLOTS = 1024;
    private static final Word[] TABLE_OF_WORDS = new Word[SLOTS];
    private static final int LONGEST;

    private final byte[] lowerCase = ByteText.ascii(name().toLowerCase(Locale.ROOT));

    static {
        int longest = 0;
        for (Word word : values()) {
            if (word != OTHER) {
                int slot = slot(word.lowerCase, 0, word.lowerCase.length);
                while (TABLE_OF_WORDS[slot] != null) {
                    slot = slot + 1 & SLOTS - 1;
                }
                TABLE_OF_WORDS[slot] = word;
                longest = Math.max(longest, word.lowerCase.length);
            }
        }
        LONGEST = longest;
    }

    /** The keyword that the range spells in letters of either case, or {@link #OTHER}. */
    static Word of(byte[] bytes, int from, int to) {
        if (to - from > LONGEST) {
            return OTHER;
        }
        int slot = slot(bytes, from, to);
        while (TABLE_OF_WORDS[slot] != null) {
            if (ByteText.equalsIgnoreCase(bytes, from, to, TABLE_OF_WORDS[slot].lowerCase)) {
                return TABLE_OF_WORDS[slot];
            }
            slot = slot + 1 & SLOTS - 1;
        }
        return OTHER;
    }

    private static int slot(byte[] bytes, int from, int to) {
        int hash = 0;
        for (int i = from; i < to; i++) {
            hash = hash * 31 + (bytes[i] | 0x20);
        }
        return (hash ^ hash >>> 10 ^ hash >>> 20) & SLOTS - 1;
    }

    /** The word stands behind a table's name, and is no alias of it. */
    boolean endsReference() {
        return switch (this) {
            case AS,
                    CROSS,
                    DO,
                    EXCEPT,
                    FOR,
                    FORCE,
                    FULL,
                    GROUP,
                    HAVING,
                    IGNORE,
                    INNER,
                    INTERSECT,
                    INTO,
                    JOIN,
                    LEFT,
                    LIMIT,
                    LOCK,
                    NATURAL,
                    ON,
                    ORDER,
                    PARTITION,
                    PROCEDURE,
                    RETURNING,
                    RIGHT,
                    SELECT,
                    SET,
                    STRAIGHT_JOIN,
                    UNION,
                    USE,
                    USING,
                    WHERE,
                    WINDOW,
                    WITH -> true;
            default -> false;
        };
    }
}
