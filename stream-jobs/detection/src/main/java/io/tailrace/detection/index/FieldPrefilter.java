package io.tailrace.detection.index;

import com.hankcs.algorithm.AhoCorasickDoubleArrayTrie;
import com.hankcs.algorithm.AhoCorasickDoubleArrayTrie.IHit;
import io.tailrace.detection.event.FieldValue;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Finds the rules that a value of one field makes candidates. One pass searches for all texts. */
final class FieldPrefilter {

    /** Receives rules by their number; the same one may occur several times. */
    interface Candidates {

        void add(int[] rules);
    }

    private static final int[] NONE = {};

    private final int[] present;
    private final Map<Double, int[]> numbers;
    private final Map<String, int[]> wholes;
    private final AhoCorasickDoubleArrayTrie<int[]> parts;
    /** The results for recent texts; null without {@link #parts}, because then a lookup is as cheap. */
    private final RecentTexts recent;

    private FieldPrefilter(Builder builder) {
        present = array(builder.present);
        numbers = arrays(builder.numbers);
        wholes = arrays(builder.wholes);
        parts = builder.parts.isEmpty() ? null : new AhoCorasickDoubleArrayTrie<>();
        if (parts != null) {
            parts.build(new TreeMap<>(arrays(builder.parts)));
        }
        recent = parts == null ? null : new RecentTexts();
    }

    private static <K> Map<K, int[]> arrays(Map<K, List<Integer>> lists) {
        Map<K, int[]> arrays = new HashMap<>();
        lists.forEach((key, rules) -> arrays.put(key, array(rules)));
        return arrays;
    }

    private static int[] array(List<Integer> rules) {
        return rules.stream().mapToInt(Integer::intValue).toArray();
    }

    void candidates(List<FieldValue> values, Candidates candidates) {
        candidates.add(present);
        for (int i = 0; i < values.size(); i++) {
            candidates(values.get(i), candidates);
        }
    }

    private void candidates(FieldValue value, Candidates candidates) {
        if (!numbers.isEmpty() && !Double.isNaN(value.number())) {
            candidates.add(numbers.getOrDefault(value.number() + 0.0, NONE));
        }
        if (recent != null) {
            candidates.add(ofText(value));
        } else if (!wholes.isEmpty()) {
            candidates.add(wholes.getOrDefault(value.folded(), NONE));
        }
    }

    /** Statements, names of tables and the like repeat, and to search a statement for all texts is expensive. */
    private int[] ofText(FieldValue value) {
        String text = value.text();
        int[] known = recent.get(text);
        if (known == null) {
            known = search(value.folded());
            recent.put(text, known);
        }
        return known;
    }

    private int[] search(String folded) {
        BitSet found = new BitSet();
        for (int rule : wholes.getOrDefault(folded, NONE)) {
            found.set(rule);
        }
        IHit<int[]> hit = (from, to, rules) -> {
            for (int rule : rules) {
                found.set(rule);
            }
        };
        parts.parseText(folded, hit);
        return found.stream().toArray();
    }

    /** Collects the anchors of a field. */
    static final class Builder {

        private final List<Integer> present = new ArrayList<>();
        private final Map<Double, List<Integer>> numbers = new HashMap<>();
        private final Map<String, List<Integer>> wholes = new HashMap<>();
        private final Map<String, List<Integer>> parts = new HashMap<>();

        void add(PrefilterTerm anchor, int rule) {
            switch (anchor.kind()) {
                case PRESENT -> present.add(rule);
                case NUMBER -> rules(numbers, anchor.number() + 0.0).add(rule);
                case WHOLE -> rules(wholes, anchor.text()).add(rule);
                case PART -> rules(parts, anchor.text()).add(rule);
            }
        }

        private static <K> List<Integer> rules(Map<K, List<Integer>> map, K key) {
            return map.computeIfAbsent(key, absent -> new ArrayList<>());
        }

        FieldPrefilter build() {
            return new FieldPrefilter(this);
        }
    }
}
