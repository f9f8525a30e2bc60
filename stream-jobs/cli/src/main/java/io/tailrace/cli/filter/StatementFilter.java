package io.tailrace.cli.filter;

import io.tailrace.event.QueryEvent;

/** Selects statements. docs/DIGEST.md describes the language of {@code --filter}. */
public interface StatementFilter {

    /** Returns whether the statement is selected. */
    boolean accepts(QueryEvent event, String fingerprint);

    /**
     * Parses an expression, such as {@code user=app and query_time>1}.
     *
     * @throws FilterSyntaxException if it is invalid, with the position
     */
    static StatementFilter of(String expression) throws FilterSyntaxException {
        return new FilterParser(expression).parse();
    }
}
