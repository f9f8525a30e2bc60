package io.tailrace.benchmarks;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Copies of the pack's rules with other literals, the same for each number: a word of a condition gets two more letters.
 * Values that many events have, such as verbs, stay the same, so that the copies are candidates as often as the originals.
 */
final class MutatedRules {

    private static final Pattern WORD = Pattern.compile("[a-z_]{4,}+(?![|:])");
    private static final Pattern UNCHANGED =
            Pattern.compile("(verb|event_class|outcome|command|flag|login|cidr|exists).*");
    private static final Pattern SECTION = Pattern.compile("  [a-z_]+:");
    /** Other literals in what a rule excludes would make the copies fire. */
    private static final Pattern EXCLUSION = Pattern.compile("  (filter|unless)[a-z_]*:");

    private static final List<String> KEYWORDS = List.of("true", "false", "null");
    private static final int LETTERS = 26;

    private MutatedRules() {}

    /**
     * Returns a rule directory with copies.
     *
     * @param files path and text of each file of the pack
     * @param count number of files to return; fewer only if no rule can be changed
     */
    static Map<String, String> of(Map<String, String> files, int count) {
        List<String> rules = files.keySet().stream()
                .filter(file -> file.endsWith(".yml") && isSingleRule(files.get(file)))
                .filter(file -> !conditions(mutate(files.get(file), 0)).equals(conditions(files.get(file))))
                .sorted()
                .toList();
        Map<String, String> all = new TreeMap<>(files);
        for (int i = 0; all.size() < count && !rules.isEmpty(); i++) {
            int round = i / rules.size();
            String file = rules.get(i % rules.size());
            all.put("copy" + round + "/" + file, mutate(files.get(file), round));
        }
        return all;
    }

    private static boolean isSingleRule(String text) {
        return text.contains("\ndetection:") && !text.contains("\ncorrelation:") && !text.contains("\n---");
    }

    private static String conditions(String rule) {
        return rule.substring(rule.indexOf("\ndetection:"));
    }

    /** A copy has another title, and neither the id nor the name by which correlations use the rule. */
    private static String mutate(String rule, int round) {
        StringBuilder out = new StringBuilder();
        boolean isCondition = false;
        boolean isExclusion = false;
        for (String line : rule.split("\n")) {
            if (line.startsWith("id:") || line.startsWith("name:")) {
                continue;
            }
            if (!line.startsWith(" ") && !line.startsWith("#")) {
                isCondition = line.startsWith("detection:");
            }
            if (SECTION.matcher(line).lookingAt()) {
                isExclusion = EXCLUSION.matcher(line).lookingAt();
            }
            boolean changes = isCondition && !isExclusion && !line.strip().startsWith("condition:");
            out.append(changes ? literals(line, round) : line.startsWith("title:") ? line + ' ' + round : line)
                    .append('\n');
        }
        return out.toString();
    }

    private static String literals(String line, int round) {
        String text = line.strip();
        int key = line.indexOf(": ");
        int from = key >= 0 ? key + 2 : text.startsWith("- ") ? line.indexOf("- ") + 2 : line.length();
        if (UNCHANGED.matcher(text.startsWith("- ") ? text.substring(2) : text).matches()) {
            return line;
        }
        String suffix = "" + (char) ('a' + round % LETTERS) + (char) ('a' + round / LETTERS % LETTERS);
        return line.substring(0, from)
                + WORD.matcher(line.substring(from))
                        .replaceAll(word -> word.group() + (KEYWORDS.contains(word.group()) ? "" : suffix));
    }
}
