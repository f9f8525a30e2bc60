package io.tailrace.lexer;

import java.util.HashMap;
import java.util.Map;

/** The role of a keyword for the structure of its statement. */
enum Keyword {
    /** CREATE, ALTER. */
    DEFINE,
    /** Objects whose definition contains a body: PROCEDURE, FUNCTION, TRIGGER, EVENT, PACKAGE. */
    ROUTINE,
    /** Objects without a body. */
    OTHER_OBJECT,
    BEGIN,
    WORK,
    END,
    CASE,
    /** Blocks that close with END and their name; MariaDB also allows them as separate statements. */
    BLOCK,
    NONE;

    private static final int MAX_LENGTH = 12;
    private static final WordTable<Keyword> BY_NAME = WordTable.ofAnyCase(names());

    private static Map<String, Keyword> names() {
        Map<String, Keyword> names = new HashMap<>();
        put(names, DEFINE, "create", "alter");
        put(names, ROUTINE, "procedure", "function", "trigger", "event", "package");
        put(names, OTHER_OBJECT, "table", "view", "index", "database", "schema", "user", "role", "server", "temporary");
        put(
                names,
                OTHER_OBJECT,
                "unique",
                "fulltext",
                "spatial",
                "tablespace",
                "logfile",
                "undo",
                "sequence",
                "resource");
        // A library's body is enclosed in dollar quotes, which are read until the kind of object is known.
        put(names, OTHER_OBJECT, "instance");
        put(names, BEGIN, "begin");
        put(names, WORK, "work");
        put(names, END, "end");
        put(names, CASE, "case");
        put(names, BLOCK, "if", "loop", "repeat", "while", "for", "declare");
        return names;
    }

    private static void put(Map<String, Keyword> names, Keyword keyword, String... all) {
        for (String name : all) {
            names.put(name, keyword);
        }
    }

    /** Returns the keyword in the range, in any case. */
    static Keyword of(byte[] bytes, int from, int to) {
        Keyword keyword = to - from > MAX_LENGTH ? null : BY_NAME.get(bytes, from, to);
        return keyword == null ? NONE : keyword;
    }
}
