package io.tailrace.lexer;

import java.util.HashMap;
import java.util.Map;

/** What a word says about the shape of the statement it stands in. */
enum Keyword {
    /** CREATE, ALTER. */
    DEFINE,
    /** Objects whose definition holds a body: PROCEDURE, FUNCTION, TRIGGER, EVENT, PACKAGE. */
    ROUTINE,
    /** Objects without a body. */
    OTHER_OBJECT,
    BEGIN,
    WORK,
    END,
    CASE,
    /** Blocks that close with END and their name; MariaDB allows them as statements of their own. */
    BLOCK,
    NONE;

    private static final int LONGEST = 12;
    private static final Map<String, Keyword> BY_NAME = new HashMap<>();

    static {
        put(DEFINE, "create", "alter");
        put(ROUTINE, "procedure", "function", "trigger", "event", "package");
        put(OTHER_OBJECT, "table", "view", "index", "database", "schema", "user", "role", "server", "temporary");
        put(OTHER_OBJECT, "unique", "fulltext", "spatial", "tablespace", "logfile", "undo", "sequence", "resource");
        put(OTHER_OBJECT, "instance", "library");
        put(BEGIN, "begin");
        put(WORK, "work");
        put(END, "end");
        put(CASE, "case");
        put(BLOCK, "if", "loop", "repeat", "while", "for", "declare");
    }

    private static void put(Keyword keyword, String... names) {
        for (String name : names) {
            BY_NAME.put(name, keyword);
        }
    }

    /** The keyword that the range spells in letters of either case. */
    static Keyword of(byte[] bytes, int from, int to) {
        if (to - from > LONGEST) {
            return NONE;
        }
        char[] lower = new char[to - from];
        for (int i = from; i < to; i++) {
            lower[i - from] = (char) (ByteText.lower(bytes[i]) & 0xff);
        }
        return BY_NAME.getOrDefault(new String(lower), NONE);
    }
}
