package io.tailrace.detection.event;

/**
 * What kind of log a rule is for, and what kind an event is from.
 *
 * @param category such as database; empty: any
 * @param product such as mysql, which stands for MariaDB too; empty: any
 * @param service slowlog, audit, general or errorlog; empty: any
 */
public record LogSource(String category, String product, String service) {

    /** Any log; of an event: nobody knows which, and every rule is for it. */
    public static final LogSource ANY = new LogSource("", "", "");

    /** Whether every part that is named here is the same there. */
    public boolean covers(LogSource other) {
        return covers(category, other.category) && covers(product, other.product) && covers(service, other.service);
    }

    private static boolean covers(String wanted, String found) {
        return wanted.isEmpty() || wanted.equalsIgnoreCase(found);
    }
}
