package io.tailrace.cli.digest.aggregate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Assigns numbers to names, so that many places can distinguish names without storing them. */
final class NameDictionary {

    /** Maximum number of names with separate numbers; the rest share that of {@link NameCounts#OTHER}. */
    private static final int MAX_COUNT = 1 << 18;

    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> names = new ArrayList<>();

    NameDictionary() {
        number(NameCounts.OTHER);
    }

    /** Returns the number of a name, from 0. */
    int number(String name) {
        Integer known = numbers.get(name);
        return known != null ? known : add(name);
    }

    private int add(String name) {
        if (names.size() == MAX_COUNT) {
            return 0;
        }
        numbers.put(name, names.size());
        names.add(name);
        return names.size() - 1;
    }

    /** Returns the name of a number. */
    String name(int number) {
        return names.get(number);
    }
}
