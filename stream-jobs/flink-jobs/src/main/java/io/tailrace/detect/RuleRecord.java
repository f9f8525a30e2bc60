package io.tailrace.detect;

import java.io.Serializable;

/**
 * A record of the rules' topic.
 *
 * @param offset in the topic: a later one wins
 * @param key bundle, or silence/ID
 * @param json a push or a silence; empty where the record ends a silence
 */
public record RuleRecord(long offset, String key, String json) implements Serializable {

    static final String BUNDLE = "bundle";
    static final String SILENCE = "silence/";

    /** No rules, older than any push. */
    static final RuleRecord NO_RULES = new RuleRecord(-1, BUNDLE, "");

    boolean isBundle() {
        return key.equals(BUNDLE);
    }

    boolean isSilence() {
        return key.startsWith(SILENCE);
    }
}
