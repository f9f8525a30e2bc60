package io.tailrace.detection.sigma;

import java.util.List;

/**
 * What a rule says about itself.
 *
 * @param id UUID; empty where it has none
 * @param name by which correlations and filters may refer to it; empty where it has none
 * @param level medium where it names none
 * @param status such as stable or test; empty where it names none
 * @param tags such as attack.t1110
 * @param nextSteps what to do when it fires; of the field {@code next_steps}, which is ours
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

    /** What distinguishes the rule from all others: id, else name, else title. */
    public String key() {
        if (!id.isEmpty()) {
            return id;
        }
        return name.isEmpty() ? title : name;
    }

    /** The same under a name. */
    RuleHeader named(String newName) {
        return new RuleHeader(
                id, newName, title, description, level, status, tags, falsePositives, nextSteps, file, line);
    }

    boolean isNamed(String reference) {
        return reference.equalsIgnoreCase(id) && !id.isEmpty() || reference.equals(name);
    }
}
