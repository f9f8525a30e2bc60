package io.tailrace.detect;

import java.io.Serializable;

/**
 * A record of the rules topic.
 *
 * @param offset offset in the topic; a later record replaces an earlier one
 * @param key bundle or candidate, or silence/ID. A push is a candidate until a job has accepted it. It then becomes the
 *     bundle, so that the compacted topic retains the last accepted push while another one is rejected
 * @param json a push or a suppression; empty if the record ends a suppression
 */
// Checkpoints contain the names of this class and of its components: do not rename or move them.
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
