package io.tailrace.spans;

import io.tailrace.statement.StatementTables;
import io.tailrace.tags.StatementTags;
import java.util.List;

/**
 * A statement that may be stored.
 *
 * @param text without literals and comments
 * @param queryId 0 where the statement has no class: it is of another kind of server, or was cut
 * @param ruleSet empty without a class
 * @param tags what its comments told
 * @param tables what it does to which tables; none without a class
 */
record MaskedStatement(String text, long queryId, String ruleSet, StatementTags tags, StatementTables tables) {

    private static final StatementTables NO_TABLES = new StatementTables("", List.of(), List.of(), false);

    /** No statement. */
    static final MaskedStatement NONE = withoutClass("", StatementTags.NONE);

    /** Something that cannot be told from its literals. */
    static final MaskedStatement OPAQUE = withoutClass("?", StatementTags.NONE);

    static MaskedStatement withoutClass(String text, StatementTags tags) {
        return new MaskedStatement(text, 0, "", tags, NO_TABLES);
    }
}
