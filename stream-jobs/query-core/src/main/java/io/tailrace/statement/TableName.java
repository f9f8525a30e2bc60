package io.tailrace.statement;

import java.util.Locale;

/**
 * A table as a statement names it.
 *
 * @param database empty if the statement does not qualify the table
 * @param table never empty
 */
record TableName(String database, String table) {

    /** Returns the name in the form that events use. */
    String text() {
        return database.isEmpty() ? part(table) : part(database) + '.' + part(table);
    }

    private static String part(String name) {
        boolean plain = name.indexOf('.') < 0 && name.indexOf('`') < 0;
        return plain ? name : '`' + name.replace("`", "``") + '`';
    }

    /** Folds case: aliases and names of common table expressions are case-insensitive. */
    static String folded(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
