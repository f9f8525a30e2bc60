package io.tailrace.digest;

import io.tailrace.event.QueryEvent;
import java.util.List;
import java.util.Locale;

/**
 * What the statements of one group have in common.
 *
 * @param by the kind of key
 * @param tag key of the tag, where that is what groups
 */
public record Grouping(By by, String tag) {

    /** Kinds of keys. */
    public enum By {
        QUERY,
        USER,
        HOST,
        DB
    }

    public static final Grouping QUERY = new Grouping(By.QUERY, "");

    /** How groupings are written on the command line. */
    public static final String NAMES = "query, user, host or db";

    /** The grouping of that name, or null. */
    public static Grouping named(String text) {
        for (By by : By.values()) {
            if (by.name().toLowerCase(Locale.ROOT).equals(text)) {
                return new Grouping(by, "");
            }
        }
        return null;
    }

    /** A statement may belong to several groups, so that they do not add up to the whole. */
    boolean overlaps() {
        return false;
    }

    boolean isByQuery() {
        return by == By.QUERY;
    }

    /** What a group is called in reports: class, user, … */
    public String noun() {
        return switch (by) {
            case QUERY -> "class";
            case USER -> "user";
            case HOST -> "host";
            case DB -> "database";
        };
    }

    public String nouns() {
        return by == By.QUERY ? "classes" : noun() + "s";
    }

    /** The keys of the groups to which a statement belongs. */
    List<String> keys(QueryEvent event) {
        return List.of(
                switch (by) {
                    case USER -> event.getUser();
                    case HOST -> host(event);
                    case DB -> event.getDatabase();
                    default -> "";
                });
    }

    /** As it is written on the command line. */
    @Override
    public String toString() {
        return by.name().toLowerCase(Locale.ROOT);
    }

    static String host(QueryEvent event) {
        return event.getHost().isEmpty() ? event.getIp() : event.getHost();
    }
}
