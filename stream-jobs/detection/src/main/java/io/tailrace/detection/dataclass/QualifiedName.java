package io.tailrace.detection.dataclass;

import io.tailrace.detection.event.FieldValue;
import java.util.ArrayList;
import java.util.List;

/** Splits names with dots, whose parts may be quoted with backticks. */
final class QualifiedName {

    /** Servers allow 64 characters; a longer name cannot be that of a table. */
    static final int MAX_LENGTH = 256;

    private QualifiedName() {}

    /** Returns at most {@code limit} parts of {@code database.table.column}; the last part contains the rest. */
    static List<String> parts(String name, int limit) {
        List<String> parts = new ArrayList<>(limit);
        int from = 0;
        while (parts.size() < limit - 1) {
            int point = pointBehind(name, from);
            if (point < 0) {
                break;
            }
            parts.add(unquoted(name.substring(from, point)));
            from = point + 1;
        }
        parts.add(unquoted(name.substring(from)));
        return parts;
    }

    private static int pointBehind(String name, int from) {
        boolean quoted = false;
        for (int i = from; i < name.length(); i++) {
            quoted ^= name.charAt(i) == '`';
            if (name.charAt(i) == '.' && !quoted) {
                return i;
            }
        }
        return -1;
    }

    private static String unquoted(String part) {
        boolean quoted = part.length() > 1 && part.startsWith("`") && part.endsWith("`");
        return quoted ? part.substring(1, part.length() - 1).replace("``", "`") : part;
    }

    /** Returns {@code database.table} as a key: in one case and without quotes. */
    static String key(String database, String table) {
        return FieldValue.of(database + '.' + table).folded();
    }
}
