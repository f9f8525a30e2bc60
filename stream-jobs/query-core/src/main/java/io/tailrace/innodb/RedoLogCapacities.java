package io.tailrace.innodb;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;

/**
 * The capacity of the redo log (bytes), for monitors whose output does not contain it: of individual servers by
 * instance, and of all others.
 *
 * @param bytes capacity by instance
 * @param defaultCapacity capacity of all other instances; 0: as in the output, or unknown
 */
public record RedoLogCapacities(Map<String, Long> bytes, long defaultCapacity) implements Serializable {

    private static final String OTHERS = "*";

    /** Returns capacities that are taken from the output alone. */
    public static RedoLogCapacities unknown() {
        return ofAll(0);
    }

    /** Returns the same capacity for every server, bytes. */
    public static RedoLogCapacities ofAll(long bytes) {
        return new RedoLogCapacities(Map.of(), bytes);
    }

    /**
     * Parses {@code db-1=1073741824, db-2=536870912, *=100663296}; {@code *} represents all other instances.
     *
     * @throws IllegalArgumentException with the part that cannot be parsed
     */
    public static RedoLogCapacities parse(String text) {
        Map<String, Long> bytes = new HashMap<>();
        for (String pair : text.split(",")) {
            if (!pair.isBlank()) {
                int equals = pair.lastIndexOf('=');
                String instance = pair.substring(0, Math.max(0, equals)).strip();
                if (instance.isEmpty() || bytes.put(instance, capacity(pair, equals)) != null) {
                    throw new IllegalArgumentException(
                            pair.strip() + " is not INSTANCE=BYTES, or the instance occurs twice");
                }
            }
        }
        Long defaultCapacity = bytes.remove(OTHERS);
        return new RedoLogCapacities(Map.copyOf(bytes), defaultCapacity == null ? 0 : defaultCapacity);
    }

    private static long capacity(String pair, int equals) {
        try {
            long capacity = Long.parseLong(pair.substring(equals + 1).strip());
            if (capacity > 0) {
                return capacity;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(pair.strip() + " is not INSTANCE=BYTES", e);
        }
        throw new IllegalArgumentException(pair.strip() + ": a capacity is a number of bytes above 0");
    }

    /** Returns the capacity of a server's redo log in bytes; 0 if it is not known. */
    public long of(String instance) {
        return bytes.getOrDefault(instance, defaultCapacity);
    }
}
