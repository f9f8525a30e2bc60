package io.tailrace.detection.event;

/**
 * The kind of log to which a rule applies, or from which an event comes.
 *
 * @param category such as database; empty: any
 * @param product such as mysql, which includes MariaDB; empty: any
 * @param service slowlog, audit, general or errorlog; empty: any
 */
public record LogSource(String category, String product, String service) {

    /** Any log. For an event: the log is unknown, and every rule applies. */
    public static final LogSource ANY = new LogSource("", "", "");

    /** Returns whether every part that is set here is equal in the other source. */
    public boolean covers(LogSource other) {
        return covers(category, other.category) && covers(product, other.product) && covers(service, other.service);
    }

    private static boolean covers(String wanted, String found) {
        return wanted.isEmpty() || wanted.equalsIgnoreCase(found);
    }
}
