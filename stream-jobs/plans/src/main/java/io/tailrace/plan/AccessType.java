package io.tailrace.plan;

import java.util.HashMap;
import java.util.Map;

/**
 * The method by which a table's rows are found, with the names of EXPLAIN's column {@code type}, cheapest first.
 * Version 2 uses other names; {@code plan.reader} converts them.
 */
public enum AccessType {
    /** A table of one row. */
    SYSTEM("system"),
    /** At most one row, found by constants during optimization. */
    CONST("const"),
    /** At most one row for each row of the preceding tables, found by a unique key. */
    EQ_REF("eq_ref"),
    /** All rows with a given value of a key. */
    REF("ref"),
    FULLTEXT("fulltext"),
    /** Like {@link #REF}, and rows with NULL. */
    REF_OR_NULL("ref_or_null"),
    /** Row ids of several indexes. */
    INDEX_MERGE("index_merge"),
    UNIQUE_SUBQUERY("unique_subquery"),
    INDEX_SUBQUERY("index_subquery"),
    /** Ranges of an index. */
    RANGE("range"),
    /** The whole index. */
    INDEX("index"),
    /** The whole table. */
    ALL("ALL"),
    /** The server names no access type, or an unknown one. */
    UNKNOWN("");

    private static final Map<String, AccessType> BY_NAME = byName();

    private final String label;

    AccessType(String label) {
        this.label = label;
    }

    private static Map<String, AccessType> byName() {
        Map<String, AccessType> names = new HashMap<>();
        for (AccessType type : values()) {
            names.put(type.label, type);
        }
        return Map.copyOf(names);
    }

    /** Returns the server's name; empty if it is unknown. */
    public String label() {
        return label;
    }

    /**
     * Returns the type of a server's name, also with MariaDB's prefix {@code hash_} for a hash join that reads the
     * table in this way.
     */
    public static AccessType named(String name) {
        String plain = name.startsWith("hash_") ? name.substring(5) : name;
        return BY_NAME.getOrDefault(plain, UNKNOWN);
    }

    /** Returns whether the whole table or index is read. */
    public boolean isFullScan() {
        return this == ALL || this == INDEX;
    }
}
