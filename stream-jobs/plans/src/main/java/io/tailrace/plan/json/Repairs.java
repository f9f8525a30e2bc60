package io.tailrace.plan.json;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The repairs of a document. Every repair is counted; the first {@value #MAX_KEPT} of each kind are stored. */
public final class Repairs {

    /** Maximum number of stored repairs per kind. */
    public static final int MAX_KEPT = 20;

    private final Map<RepairKind, Integer> counts = new EnumMap<>(RepairKind.class);
    private final List<Repair> places = new ArrayList<>();

    /** Returns whether further repairs of this kind are stored, so that the caller computes a path only if needed. */
    boolean wants(RepairKind kind) {
        return counts.getOrDefault(kind, 0) < MAX_KEPT;
    }

    void add(RepairKind kind, int offset, String path) {
        if (wants(kind)) {
            places.add(new Repair(kind, offset, path));
        }
        counts.merge(kind, 1, Integer::sum);
    }

    public boolean isEmpty() {
        return counts.isEmpty();
    }

    /** Returns the number of repairs of this kind. */
    public int count(RepairKind kind) {
        return counts.getOrDefault(kind, 0);
    }

    /** Returns the number of repairs of each kind that occurs. */
    public Map<RepairKind, Integer> counts() {
        return Collections.unmodifiableMap(counts);
    }

    /** Returns the stored repairs in the order of the document. */
    public List<Repair> places() {
        return Collections.unmodifiableList(places);
    }
}
