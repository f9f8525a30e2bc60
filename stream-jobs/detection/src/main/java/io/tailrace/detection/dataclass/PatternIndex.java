package io.tailrace.detection.dataclass;

import com.hankcs.algorithm.AhoCorasickDoubleArrayTrie;
import com.hankcs.algorithm.AhoCorasickDoubleArrayTrie.IHit;
import io.tailrace.detection.event.CaseFolding;
import io.tailrace.detection.event.FieldValue;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;

/**
 * Finds the patterns that cover a table without testing all of them. Each pattern is indexed by a text that the table
 * name must contain. Not thread-safe.
 */
final class PatternIndex {

    private final List<DataPattern> patterns;
    private final Map<String, int[]> exact;
    private final AhoCorasickDoubleArrayTrie<int[]> parts;
    private final int[] others;

    PatternIndex(List<DataPattern> patterns) {
        this.patterns = List.copyOf(patterns);
        Map<String, List<Integer>> exactLists = new HashMap<>();
        Map<String, List<Integer>> partLists = new TreeMap<>();
        List<Integer> rest = new ArrayList<>();
        for (int i = 0; i < patterns.size(); i++) {
            NamePattern table = patterns.get(i).table();
            String part = longestPart(CaseFolding.fold(table.written()));
            if (!table.hasWildcards()) {
                exactLists.computeIfAbsent(part, key -> new ArrayList<>()).add(i);
            } else if (!part.isEmpty()) {
                partLists.computeIfAbsent(part, key -> new ArrayList<>()).add(i);
            } else {
                rest.add(i);
            }
        }
        exact = arrays(exactLists);
        others = array(rest);
        parts = partLists.isEmpty() ? null : new AhoCorasickDoubleArrayTrie<>();
        if (parts != null) {
            parts.build(new TreeMap<>(arrays(partLists)));
        }
    }

    private static Map<String, int[]> arrays(Map<String, List<Integer>> lists) {
        Map<String, int[]> arrays = new HashMap<>();
        lists.forEach((key, numbers) -> arrays.put(key, array(numbers)));
        return arrays;
    }

    private static int[] array(List<Integer> numbers) {
        return numbers.stream().mapToInt(Integer::intValue).toArray();
    }

    private static String longestPart(String pattern) {
        String longest = "";
        int from = 0;
        for (int i = 0; i <= pattern.length(); i++) {
            if (i == pattern.length() || pattern.charAt(i) == '*' || pattern.charAt(i) == '?') {
                longest = i - from > longest.length() ? pattern.substring(from, i) : longest;
                from = i + 1;
            }
        }
        return longest;
    }

    /** Passes the numbers of all patterns that cover a table, each once, in ascending order. */
    void find(FieldValue database, FieldValue table, IntConsumer found) {
        BitSet candidates = new BitSet();
        add(exact.get(table.folded()), candidates);
        add(others, candidates);
        if (parts != null) {
            IHit<int[]> hit = (from, to, numbers) -> add(numbers, candidates);
            parts.parseText(table.folded(), hit);
        }
        candidates.stream()
                .filter(number -> patterns.get(number).covers(database, table))
                .forEach(found);
    }

    private static void add(int[] numbers, BitSet candidates) {
        if (numbers != null) {
            for (int number : numbers) {
                candidates.set(number);
            }
        }
    }
}
