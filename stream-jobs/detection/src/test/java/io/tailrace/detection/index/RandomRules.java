package io.tailrace.detection.index;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Generates rules and events of few fields and words, so that they often match. */
final class RandomRules {

    private static final List<String> FIELDS = List.of("a", "b", "c", "d");
    private static final List<String> WORDS =
            List.of("ab", "abc", "bca", "Cab", "b", "10", "7", "x-y", "a*c", "'", "ÄB", "a b", "");
    private static final List<String> MODIFIERS = List.of(
            "",
            "",
            "|contains",
            "|startswith",
            "|endswith",
            "|contains|all",
            "|cased",
            "|re",
            "|neq",
            "|exists",
            "|gt",
            "|lte",
            "|fieldref",
            "|contains|windash",
            "|cidr");

    private final Random random;

    RandomRules(long seed) {
        this.random = new Random(seed);
    }

    String rule(int number) {
        StringBuilder rule = new StringBuilder(
                "title: r" + number + "\nname: r" + number + "\nlogsource: {category: database}\ndetection:\n");
        int searches = 1 + random.nextInt(3);
        for (int i = 0; i < searches; i++) {
            rule.append("  s").append(i).append(":\n").append(search());
        }
        return rule.append("  condition: ")
                .append(condition(searches, 0))
                .append("\n---\n")
                .toString();
    }

    private String search() {
        if (random.nextInt(8) == 0) {
            return "    - '" + quoted(word()) + "x'\n    - '" + quoted(word()) + "y'\n";
        }
        StringBuilder search = new StringBuilder();
        List<String> fields = new ArrayList<>(FIELDS);
        for (int i = 0; i <= random.nextInt(2); i++) {
            search.append(field(fields.remove(random.nextInt(fields.size()))));
        }
        return search.toString();
    }

    private String field(String name) {
        String modifier = pick(MODIFIERS);
        String values =
                switch (modifier) {
                    case "|exists" -> Boolean.toString(random.nextBoolean());
                    case "|gt", "|lte" -> Integer.toString(random.nextInt(12));
                    case "|fieldref" -> pick(FIELDS);
                    case "|re" -> pick(List.of("^a.c?", "b$", "'[0-9]+'", "(a|b)c"));
                    case "|cidr" -> "10.0.0.0/8";
                    default -> "['" + quoted(word()) + "', '" + quoted(word()) + "']";
                };
        boolean plain = modifier.isEmpty() && random.nextInt(4) == 0;
        return "    " + name + modifier + ": " + (plain ? pick(List.of("null", "10", "7", "true")) : values) + "\n";
    }

    private String condition(int searches, int depth) {
        String left = "s" + random.nextInt(searches);
        return switch (depth > 2 ? 0 : random.nextInt(7)) {
            case 0, 1 -> left;
            case 2 -> "not (" + condition(searches, depth + 1) + ")";
            case 3 -> left + " and " + condition(searches, depth + 1);
            case 4 -> left + " or " + condition(searches, depth + 1);
            case 5 -> "1 of s*";
            default -> "all of them";
        };
    }

    DetectionEvent event(int number) {
        DetectionEvent.Builder event =
                DetectionEvent.builder("e" + number, number, new LogSource("database", "mysql", ""));
        for (String field : FIELDS) {
            switch (random.nextInt(6)) {
                case 0 -> event.number(field, random.nextInt(12));
                case 1 -> event.texts(field, List.of(word(), word() + word()));
                case 2 -> event.text(field, "10." + random.nextInt(3) + ".0.1");
                case 3, 4 -> event.text(field, word() + pick(List.of("", " ", "-")) + word());
                default -> {}
            }
        }
        return event.build();
    }

    private String word() {
        return pick(WORDS);
    }

    private static String quoted(String text) {
        return text.replace("'", "''");
    }

    private String pick(List<String> from) {
        return from.get(random.nextInt(from.size()));
    }
}
