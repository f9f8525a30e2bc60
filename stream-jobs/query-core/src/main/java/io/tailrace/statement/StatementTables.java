package io.tailrace.statement;

import java.util.List;

/**
 * What a statement does, and to which tables.
 *
 * <p>Tables are named as in the statement: {@code table} or {@code database.table}. A name that contains a point or a
 * backtick is enclosed in backticks. A table that the statement both reads and writes is in both lists.
 *
 * @param verb the keyword that identifies the type of the statement, upper case; empty if there is none
 * @param read tables and views that are read, in order of their first mention
 * @param written tables and views whose rows or definition change, in the same order
 * @param complete false if the lists may be incomplete: the text ends too early, or is too long or too deep, or the
 *     statement assigns a column without stating to which of several tables it belongs
 */
public record StatementTables(String verb, List<String> read, List<String> written, boolean complete) {

    public StatementTables {
        read = List.copyOf(read);
        written = List.copyOf(written);
    }
}
