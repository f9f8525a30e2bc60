package io.tailrace.cli.digest.aggregate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Counts the weighted occurrences of a few names. */
public final class NameCounts {

    /** A name and its weight. */
    public record Count(String name, double weight) {}

    /** Maximum number of distinct names; the rest counts as {@link #OTHER}. */
    static final int MAX_NAMES = 1_000;

    /**
     * Up to this number, names are searched linearly; the index for more needs more memory than the rest of a small
     * group.
     */
    private static final int FEW = 40;

    static final String OTHER = "other";

    private static final String[] NO_NAMES = {};
    private static final double[] NO_WEIGHTS = {};

    private String[] names = NO_NAMES;
    private double[] weights = NO_WEIGHTS;
    private int used;
    private int last;
    /** Indexes of the names, if there are more than a few. */
    private Map<String, Integer> index;

    void add(String name, double weight) {
        // Parsers pool their names, and the next entry often has the same one.
        if (last < used && names[last] == name) {
            weights[last] += weight;
            return;
        }
        last = place(name);
        weights[last] += weight;
    }

    void addAll(NameCounts other) {
        for (int i = 0; i < other.used; i++) {
            add(other.names[i], other.weights[i]);
        }
    }

    private int place(String name) {
        int place = index == null ? find(name) : index.getOrDefault(name, -1);
        if (place >= 0) {
            return place;
        }
        return used > MAX_NAMES ? MAX_NAMES : append(used == MAX_NAMES ? OTHER : name);
    }

    private int find(String name) {
        for (int i = 0; i < used; i++) {
            if (names[i] == name) {
                return i;
            }
        }
        for (int i = 0; i < used; i++) {
            if (names[i].equals(name)) {
                return i;
            }
        }
        return -1;
    }

    private int append(String name) {
        if (used == names.length) {
            int room = Math.max(1, used * 2);
            names = Arrays.copyOf(names, room);
            weights = Arrays.copyOf(weights, room);
        }
        names[used] = name;
        if (index != null) {
            index.put(name, used);
        } else if (used == FEW) {
            index = new HashMap<>();
            for (int i = 0; i <= used; i++) {
                index.put(names[i], i);
            }
        }
        return used++;
    }

    public boolean isEmpty() {
        return used == 0;
    }

    public int size() {
        return used;
    }

    public double total() {
        return Arrays.stream(weights, 0, used).sum();
    }

    /** Returns the counts, heaviest first; equal ones are ordered by their names. */
    public List<Count> heaviest() {
        List<Count> counts = new ArrayList<>(used);
        for (int i = 0; i < used; i++) {
            counts.add(new Count(names[i], weights[i]));
        }
        counts.sort(Comparator.comparingDouble(Count::weight).reversed().thenComparing(Count::name));
        return counts;
    }
}
