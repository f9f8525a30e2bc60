package io.tailrace.detection.detector.firstseen;

import java.util.regex.Pattern;

/**
 * Recognizes statements by which administrators maintain tables, in most cases at night. They send and change no rows,
 * so an unusual hour alone is no reason to ask. Rules report what else they do: dropped columns, exchanged partitions,
 * moved tablespaces.
 */
final class Maintenance {

    /** Follows the value of a table of a data class if a statement maintains it: another value than all of its rows. */
    static final String SUFFIX = " (maintenance)";

    private static final Pattern STATEMENT = Pattern.compile(
            "(alter (online )?(ignore )?table|(analyze|optimize|check|repair) (local |no_write_to_binlog )?tables?"
                    + "|create (unique |fulltext |spatial )?index) [^;]*",
            Pattern.DOTALL);
    /** Parts that read rows of another table, or hand its file over. */
    private static final Pattern OTHER = Pattern.compile("\\b(select|exchange|discard|import)\\b");

    private static final Pattern TRIGGER =
            Pattern.compile("create (or replace )?(definer ?= ?\\S+ )?trigger\\b.*", Pattern.DOTALL);

    private Maintenance() {}

    /** @param statement without its literals, in lower case */
    static boolean isStatement(String statement) {
        return STATEMENT.matcher(statement).matches()
                && !OTHER.matcher(statement).find();
    }

    /**
     * Returns whether a statement names tables without access to their rows: also one that creates a trigger, which the rule
     * trigger_on_sensitive_table reports.
     */
    static boolean touchesNoRows(String statement) {
        return isStatement(statement) || TRIGGER.matcher(statement).matches();
    }
}
