package io.tailrace.statement;

import java.util.Set;

/**
 * The names in a fingerprint, in lower case. Their digits are {@code ?}, as in the fingerprint.
 *
 * @param names columns, tables, aliases, functions, keywords: everything that has the form of a name
 * @param called names that a parenthesis follows, {@code routine} or {@code database.routine}
 * @param everyColumn whether the statement may access columns that it does not name, or could not be read completely
 */
public record StatementNames(Set<String> names, Set<String> called, boolean everyColumn) {

    public StatementNames {
        names = Set.copyOf(names);
        called = Set.copyOf(called);
    }
}
