package io.tailrace.detect;

import java.io.Serializable;

/**
 * A record of the rules' topic.
 *
 * @param offset in the topic: a later one wins
 * @param key bundle or candidate, or silence/ID. A push is a candidate until a job has taken it over: then it becomes the
 *     bundle, so that the topic, which is compacted, keeps the last good one beside one that is refused
 * @param json a push or a silence; empty where the record ends a silence
 */
// The names of this class and of its components are in checkpoints: do not rename or move them.
public record RuleRecord(long offset, String key, String json) implements Serializable {

    public static final String BUNDLE = "bundle";
    public static final String CANDIDATE = "candidate";
    static final String SILENCE = "silence/";

    /** No rules, older than any push. */
    public static final RuleRecord NO_RULES = new RuleRecord(-1, BUNDLE, "");

    public boolean isBundle() {
        return key.equals(BUNDLE) || key.equals(CANDIDATE);
    }

    public boolean isSilence() {
        return key.startsWith(SILENCE);
    }
}
