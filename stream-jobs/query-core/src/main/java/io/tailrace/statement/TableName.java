package io.tailrace.statement;

import java.util.Locale;

/**
 * A table as a statement names it.
 *
 * @param database empty where the statement leaves it to the connection
 * @param table never empty
 */
record TableName(String database, String table) {

    /** How events name the table. */
    String text() {
        return database.isEmpty() ? part(table) : part(database) + '.' + part(table);
    }

    private static String part(String name) {
        boolean plain = name.indexOf('.') < 0 && name.indexOf('`') < 0;
        return plain ? name : '`' + name.replace("`", "``") + '`';
    }

    /** Aliases and names of common table expressions are the same in letters of either case. */
    static String folded(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
