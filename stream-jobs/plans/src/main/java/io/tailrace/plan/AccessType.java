package io.tailrace.plan;

import java.util.HashMap;
import java.util.Map;

/**
 * How a table's rows are found, by the names of EXPLAIN's column {@code type}, cheapest first. Version 2 names them in
 * other words; {@link IteratorPlanReader} translates.
 */
public enum AccessType {
    /** A table of one row. */
    SYSTEM("system"),
    /** At most one row, by constants, read while optimizing. */
    CONST("const"),
    /** At most one row for each row of the tables before, by a unique key. */
    EQ_REF("eq_ref"),
    /** All rows with a value of a key. */
    REF("ref"),
    FULLTEXT("fulltext"),
    /** As {@link #REF}, and those with NULL. */
    REF_OR_NULL("ref_or_null"),
    /** Row ids of several indexes. */
    INDEX_MERGE("index_merge"),
    UNIQUE_SUBQUERY("unique_subquery"),
    INDEX_SUBQUERY("index_subquery"),
    /** Ranges of an index. */
    RANGE("range"),
    /** All of an index. */
    INDEX("index"),
    /** All of the table. */
    ALL("ALL"),
    /** The server names none, or one that is not known here. */
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

    /** The server's name; empty where it is not known. */
    public String label() {
        return label;
    }

    /**
     * The type that a server names, also with MariaDB's {@code hash_} before it: a hash join that reads the table so.
     */
    static AccessType named(String name) {
        String plain = name.startsWith("hash_") ? name.substring(5) : name;
        return BY_NAME.getOrDefault(plain, UNKNOWN);
    }

    /** All of the table or of an index is read. */
    public boolean isFullScan() {
        return this == ALL || this == INDEX;
    }
}
