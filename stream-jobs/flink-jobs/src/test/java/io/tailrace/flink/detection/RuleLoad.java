package io.tailrace.flink.detection;

import java.util.Map;
import java.util.TreeMap;

/** Generates any number of rules over fields of the events of {@link BusyServers}. */
final class RuleLoad {

    static final String MARKERS =
            """
            title: markers
            logsource: {category: database}
            level: low
            detection:
              selection:
                user|startswith: marker-
              condition: selection
            """;

    private RuleLoad() {}

    static Map<String, String> rules(int count) {
        Map<String, String> files = new TreeMap<>();
        files.put("markers.yml", MARKERS);
        for (int i = 0; i < count; i++) {
            files.put("rule" + i + ".yml", rule(i));
        }
        return files;
    }

    /** Returns the number in letters, because fingerprints omit the digits of names. */
    private static String word(int number) {
        StringBuilder word = new StringBuilder("q");
        for (int left = number; left > 0; left /= 26) {
            word.append((char) ('a' + left % 26));
        }
        return word.append('q').toString();
    }

    private static String rule(int i) {
        String word = word(i);
        String search =
                switch (i % 5) {
                    case 0 -> "statement|contains: ['into outfile', 'marker" + word + "']\n    verb: SELECT";
                    case 1 -> "statement|contains|all: [' union ', 'column" + word + "']";
                    case 2 -> "table: ['secret.t" + word + "', '*.users" + word + "']\n    src_ip|cidr: 10.0.0.0/8";
                    case 3 -> "statement|re: 'from archive" + word + " +where [a-z]+ ='\n    database: shop";
                    default -> "statement|startswith: 'update parts" + word + "'\n    verb: [UPDATE, REPLACE]";
                };
        return "title: rule " + i + "\nlogsource: {category: database}\nlevel: low\ndetection:\n  selection:\n    "
                + search + "\n  filter:\n    user: [backup, 'admin" + i
                + "*']\n  condition: selection and not filter\n";
    }

    /** Returns a statement that only the rule of this number matches. */
    static String statement(int rule) {
        String word = word(rule);
        return switch (rule % 5) {
            case 0 -> "SELECT marker" + word + " FROM orders WHERE id = 1";
            case 1 -> "SELECT id FROM orders UNION SELECT column" + word + " FROM items";
            case 2 -> "SELECT id FROM shop.users" + word + " WHERE id = 1";
            case 3 -> "SELECT id FROM archive" + word + " WHERE owner = 1";
            default -> "UPDATE parts" + word + " SET a = 1 WHERE id = 2";
        };
    }
}
