package io.tailrace.plan.json;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What was repaired in a document: every repair is counted, the first {@value #MAX_KEPT} of each kind are kept. */
public final class Repairs {

    /** Places of one kind that are kept. */
    public static final int MAX_KEPT = 20;

    private final Map<RepairKind, Integer> counts = new EnumMap<>(RepairKind.class);
    private final List<Repair> places = new ArrayList<>();

    /** True while places of this kind are kept: a path is not made for nothing. */
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

    /** How many there are of this kind. */
    public int count(RepairKind kind) {
        return counts.getOrDefault(kind, 0);
    }

    /** How many there are of each kind that occurs. */
    public Map<RepairKind, Integer> counts() {
        return Collections.unmodifiableMap(counts);
    }

    /** The places that were kept, in the order of the document. */
    public List<Repair> places() {
        return Collections.unmodifiableList(places);
    }
}
