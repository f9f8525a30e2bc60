package io.tailrace.flag;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Flags whose wire names consist of words from fixed sets, so that clients cannot invent flags: docs/FINGERPRINT.md. Query
 * and audit events have them.
 */
public enum EventFlagFamily {
    /** The kind of a prepared statement: {@code dynamic_grant}, {@code dynamic_drop_table}. */
    DYNAMIC("dynamic_KIND", "dynamic(?:_[a-z]+)+"),
    /** The value that a statement assigns to a setting of the server: {@code general_log=off}. */
    SETTING("SETTING=VALUE", "[a-z_]+=(?:off|on|e[0-9]|default|log|other)");

    private final String template;
    private final Pattern names;

    EventFlagFamily(String template, String names) {
        this.template = template;
        this.names = Pattern.compile(names);
    }

    /** Returns the name of the family in the schemas and docs, with its variable parts in capitals. */
    public String template() {
        return template;
    }

    /** Returns whether a wire name may be one of this family. */
    public boolean matches(String wireName) {
        return names.matcher(wireName).matches();
    }

    /**
     * Returns the wire name for a kind of prepared statement.
     *
     * @param kind its first words in lower case, such as {@code drop} and {@code table}
     */
    public static String dynamic(List<String> kind) {
        return "dynamic_" + String.join("_", kind);
    }

    /**
     * Returns the wire name for the value of a setting.
     *
     * @param name in lower case, without a scope
     * @param value {@code off}, {@code on}, {@code e0} to {@code e9}, {@code default}, {@code log} or {@code other}
     */
    public static String setting(String name, String value) {
        return name + '=' + value;
    }
}
