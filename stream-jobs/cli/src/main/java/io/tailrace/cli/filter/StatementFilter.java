package io.tailrace.cli.filter;

import io.tailrace.event.QueryEvent;

/** Which statements are wanted. docs/DIGEST.md has the language of {@code --filter}. */
public interface StatementFilter {

    /** Whether the statement is wanted; {@code fingerprint} is the text of its class. */
    boolean accepts(QueryEvent event, String fingerprint);

    /**
     * The filter that an expression means, such as {@code user=app and query_time>1}.
     *
     * @throws FilterSyntaxException where it means nothing; says where
     */
    static StatementFilter of(String expression) throws FilterSyntaxException {
        return new FilterParser(expression).parse();
    }
}
