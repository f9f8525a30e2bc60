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
 * @param completeIfWhole true also if the only doubt is a list of names without FROM at the end. If nothing was cut off,
 *     these are variables of a stored program, or the statement fails: it uses no table for them
 */
public record StatementTables(
        String verb, List<String> read, List<String> written, boolean complete, boolean completeIfWhole) {

    public StatementTables {
        read = List.copyOf(read);
        written = List.copyOf(written);
    }

    /** Creates tables that are complete, or not, whether the text is whole or not. */
    public StatementTables(String verb, List<String> read, List<String> written, boolean complete) {
        this(verb, read, written, complete, complete);
    }
}
