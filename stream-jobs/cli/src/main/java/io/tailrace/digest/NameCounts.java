package io.tailrace.digest;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** How often each of a few names came, weighted. */
public final class NameCounts {

    /** A name and its weight. */
    public record Count(String name, double weight) {}

    /** Names that are told apart; the rest counts as {@link #OTHER}. */
    static final int MOST_NAMES = 100;

    static final String OTHER = "other";

    private String[] names = new String[1];
    private double[] weights = new double[1];
    private int used;
    private int last;

    void add(String name, double weight) {
        // Parsers pool their names, and the next entry's is often the last one's.
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
        if (used > MOST_NAMES) {
            return MOST_NAMES;
        }
        if (used == names.length) {
            names = Arrays.copyOf(names, used * 2);
            weights = Arrays.copyOf(weights, used * 2);
        }
        names[used] = used == MOST_NAMES ? OTHER : name;
        return used++;
    }

    public boolean isEmpty() {
        return used == 0;
    }

    public int size() {
        return used;
    }

    double total() {
        return Arrays.stream(weights, 0, used).sum();
    }

    double of(String name) {
        for (int i = 0; i < used; i++) {
            if (names[i].equals(name)) {
                return weights[i];
            }
        }
        return 0;
    }

    /** The heaviest first; equal ones in the order of their names. */
    public List<Count> heaviest() {
        List<Count> counts = new ArrayList<>(used);
        for (int i = 0; i < used; i++) {
            counts.add(new Count(names[i], weights[i]));
        }
        counts.sort(Comparator.comparingDouble(Count::weight).reversed().thenComparing(Count::name));
        return counts;
    }
}
