package io.tailrace.statement;

import java.util.List;

/**
 * What a statement does, and to which tables.
 *
 * <p>Tables are named as the statement names them: {@code table} or {@code database.table}; a part that holds a point
 * or a backtick stands in backticks. A table is in both lists when the statement names it in both roles.
 *
 * @param verb the keyword that says what the statement does, upper case; empty where there is none
 * @param read tables and views that are read, in order of their first mention
 * @param written tables and views whose rows or definition change, in the same order
 * @param complete false when the text ends too early or is too long or too deep to be sure of all tables, or when a
 *     column of several tables is assigned without saying whose it is; the lists then hold what is known
 */
public record StatementTables(String verb, List<String> read, List<String> written, boolean complete) {

    public StatementTables {
        read = List.copyOf(read);
        written = List.copyOf(written);
    }
}
