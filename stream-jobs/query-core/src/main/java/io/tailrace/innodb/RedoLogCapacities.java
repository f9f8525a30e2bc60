package io.tailrace.innodb;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;

/**
 * The capacity of the redo log (bytes) where the monitor's output does not say it: of single servers by their instance,
 * and of all others.
 *
 * @param bytes capacity by instance
 * @param defaultCapacity capacity of instances that are not named; 0: as the output says, or unknown
 */
public record RedoLogCapacities(Map<String, Long> bytes, long defaultCapacity) implements Serializable {

    private static final String OTHERS = "*";

    /** As the output says. */
    public static RedoLogCapacities unknown() {
        return ofAll(0);
    }

    /** The same capacity for every server, bytes. */
    public static RedoLogCapacities ofAll(long bytes) {
        return new RedoLogCapacities(Map.of(), bytes);
    }

    /**
     * Reads {@code db-1=1073741824, db-2=536870912, *=100663296}; {@code *} stands for all other instances.
     *
     * @throws IllegalArgumentException naming what cannot be read
     */
    public static RedoLogCapacities parse(String text) {
        Map<String, Long> bytes = new HashMap<>();
        for (String pair : text.split(",")) {
            if (!pair.isBlank()) {
                int equals = pair.lastIndexOf('=');
                String instance = pair.substring(0, Math.max(0, equals)).strip();
                if (instance.isEmpty() || bytes.put(instance, capacity(pair, equals)) != null) {
                    throw new IllegalArgumentException(pair.strip() + " is not INSTANCE=BYTES, or is there twice");
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

    /** The capacity of a server's redo log in bytes; 0 where it is not known. */
    public long of(String instance) {
        return bytes.getOrDefault(instance, defaultCapacity);
    }
}
