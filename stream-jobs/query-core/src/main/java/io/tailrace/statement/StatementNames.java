package io.tailrace.statement;

import java.util.Set;

/**
 * The names that stand in a fingerprint, lower case. Digits in them are {@code ?}, as fingerprints have them.
 *
 * @param names columns, tables, aliases, functions, keywords: everything that is written like a name
 * @param called names with a parenthesis behind them, {@code routine} or {@code database.routine}
 * @param everyColumn the statement may read or write columns that it does not name, or not all of it is known
 */
public record StatementNames(Set<String> names, Set<String> called, boolean everyColumn) {

    public StatementNames {
        names = Set.copyOf(names);
        called = Set.copyOf(called);
    }
}
