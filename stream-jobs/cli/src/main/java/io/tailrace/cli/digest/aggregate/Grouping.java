package io.tailrace.cli.digest.aggregate;

import io.tailrace.event.QueryEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The key that the statements of one group share.
 *
 * @param by kind of the key
 * @param tag key of the tag, if statements are grouped by a tag; empty for all tags
 */
public record Grouping(By by, String tag) {

    /** Kinds of keys. */
    public enum By {
        QUERY,
        USER,
        HOST,
        DB,
        TABLE,
        TAG
    }

    private static final List<String> NO_NAME = List.of("");

    public static final Grouping QUERY = new Grouping(By.QUERY, "");

    /** The names of groupings on the command line. */
    public static final String NAMES = "query, user, host, db, table, tag or tag:KEY";

    private static final String TAG_PREFIX = "tag:";

    /** Returns the grouping with this name, or null. */
    public static Grouping named(String text) {
        if (text.startsWith(TAG_PREFIX) && text.length() > TAG_PREFIX.length()) {
            return new Grouping(By.TAG, text.substring(TAG_PREFIX.length()));
        }
        for (By by : By.values()) {
            if (by.name().toLowerCase(Locale.ROOT).equals(text)) {
                return new Grouping(by, "");
            }
        }
        return null;
    }

    /** Returns whether a statement may belong to several groups, so that their sum may exceed the total. */
    public boolean overlaps() {
        return by == By.TABLE || isByAnyTag();
    }

    private boolean isByAnyTag() {
        return by == By.TAG && tag.isEmpty();
    }

    public boolean isByQuery() {
        return by == By.QUERY;
    }

    /** Returns whether counters of a server have this key. */
    public boolean isOfCounters() {
        return by == By.QUERY || by == By.DB || by == By.TABLE;
    }

    /** Returns the name of a group in reports: class, user, … */
    public String noun() {
        return switch (by) {
            case QUERY -> "class";
            case USER -> "user";
            case HOST -> "host";
            case DB -> "database";
            case TABLE -> "table";
            case TAG -> isByAnyTag() ? "tag" : tag;
        };
    }

    public String nouns() {
        return switch (by) {
            case QUERY -> "classes";
            case TAG -> isByAnyTag() ? "tags" : "values of " + tag;
            default -> noun() + "s";
        };
    }

    /** Returns the keys of the groups to which a statement belongs. */
    List<String> keys(QueryEvent event) {
        return switch (by) {
            case QUERY -> List.of();
            case USER -> List.of(event.getUser());
            case HOST -> List.of(host(event));
            case DB -> List.of(event.getDatabase());
            case TABLE -> tables(event);
            case TAG -> isByAnyTag() ? tags(event) : List.of(event.getTags().getOrDefault(tag, ""));
        };
    }

    private static List<String> tags(QueryEvent event) {
        return event.getTags().isEmpty()
                ? NO_NAME
                : event.getTags().entrySet().stream()
                        .map(entry -> entry.getKey() + '=' + entry.getValue())
                        .toList();
    }

    /** Returns the tables of a statement, with their database if it is known; one without a name if it has none. */
    static List<String> tables(QueryEvent event) {
        List<String> read = event.getTablesRead();
        List<String> written = event.getTablesWritten();
        if (read.isEmpty() && written.isEmpty()) {
            return NO_NAME;
        }
        List<String> tables = new ArrayList<>(read.size() + written.size());
        addTables(written, event.getDatabase(), tables);
        addTables(read, event.getDatabase(), tables);
        return tables;
    }

    private static void addTables(List<String> names, String database, List<String> tables) {
        for (String name : names) {
            String table = database.isEmpty() || name.indexOf('.') >= 0 ? name : database + '.' + name;
            if (!tables.contains(table)) {
                tables.add(table);
            }
        }
    }

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return by == By.TAG && !tag.isEmpty() ? TAG_PREFIX + tag : by.name().toLowerCase(Locale.ROOT);
    }

    static String host(QueryEvent event) {
        return event.getHost().isEmpty() ? event.getIp() : event.getHost();
    }
}
