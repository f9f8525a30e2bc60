package io.tailrace.detection.sigma.rule;

import java.util.List;

/**
 * The metadata of a rule.
 *
 * @param id UUID; empty if it has none
 * @param name name by which correlations and filters may refer to it; empty if it has none
 * @param level medium if it has none
 * @param status such as stable or test; empty if it has none
 * @param tags such as attack.t1110
 * @param nextSteps instructions for the person who handles the alert, from {@code next_steps}, an extension of Sigma
 * @param file name of its file
 * @param line line at which it begins, from 1
 */
public record RuleHeader(
        String id,
        String name,
        String title,
        String description,
        Level level,
        String status,
        List<String> tags,
        List<String> falsePositives,
        List<String> nextSteps,
        String file,
        int line) {

    /** The tag of a canary rule: its alerts are stored apart, and are neither listed nor delivered. */
    public static final String CANARY_TAG = "tailrace.canary";

    /** Returns the unique key of the rule: id, else name, else title. */
    public String key() {
        if (!id.isEmpty()) {
            return id;
        }
        return name.isEmpty() ? title : name;
    }

    /** Returns a copy with a name. */
    public RuleHeader named(String newName) {
        return new RuleHeader(
                id, newName, title, description, level, status, tags, falsePositives, nextSteps, file, line);
    }

    /** Returns a copy with another level. */
    public RuleHeader at(Level other) {
        return new RuleHeader(id, name, title, description, other, status, tags, falsePositives, nextSteps, file, line);
    }

    /** Returns whether the author withdrew the rule: it is deprecated or unsupported. */
    public boolean isWithdrawn() {
        return "deprecated".equalsIgnoreCase(status) || "unsupported".equalsIgnoreCase(status);
    }

    /** Returns whether a reference is its id, in upper or lower case, or its name. */
    public boolean isNamed(String reference) {
        return reference.equalsIgnoreCase(id) && !id.isEmpty() || reference.equals(name);
    }
}
