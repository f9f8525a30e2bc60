package io.tailrace.spans;

import io.tailrace.statement.StatementTables;
import io.tailrace.tags.StatementTags;
import java.util.List;

/**
 * A statement that may be stored.
 *
 * @param text without literals and comments
 * @param queryId 0 if the statement has no class, because its server is of another kind or it was cut
 * @param ruleSet empty if the statement has no class
 * @param tags tags in its comments
 * @param tables what it does to which tables; empty if the statement has no class
 */
record MaskedStatement(String text, long queryId, String ruleSet, StatementTags tags, StatementTables tables) {

    private static final StatementTables NO_TABLES = new StatementTables("", List.of(), List.of(), false);

    /** No statement. */
    static final MaskedStatement NONE = withoutClass("", StatementTags.NONE);

    /** A statement whose literals cannot be identified. */
    static final MaskedStatement OPAQUE = withoutClass("?", StatementTags.NONE);

    static MaskedStatement withoutClass(String text, StatementTags tags) {
        return new MaskedStatement(text, 0, "", tags, NO_TABLES);
    }
}
