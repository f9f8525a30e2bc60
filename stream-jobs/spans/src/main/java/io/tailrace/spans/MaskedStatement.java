package io.tailrace.spans;

import io.tailrace.tags.StatementTags;

/**
 * A statement that may be stored.
 *
 * @param text without literals and comments
 * @param queryId 0 where the statement has no class: it is of another kind of server, or was cut
 * @param ruleSet empty without a class
 * @param tags what its comments told
 */
record MaskedStatement(String text, long queryId, String ruleSet, StatementTags tags) {

    /** No statement. */
    static final MaskedStatement NONE = new MaskedStatement("", 0, "", StatementTags.NONE);

    /** Something that cannot be told from its literals. */
    static final MaskedStatement OPAQUE = new MaskedStatement("?", 0, "", StatementTags.NONE);
}
