package io.tailrace.flag;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import java.util.Collection;
import java.util.Set;

/**
 * A property of an event, or a doubt about it, in the field {@code flags} of query, audit and error events.
 *
 * <p>The wire name is stored with events and named in rules: never rename or reuse one. docs/FORMATS.md lists the flags,
 * and the schemas of the events list those that their events can have. {@link EventFlagFamily} has the flags whose names
 * contain words of a statement.
 */
public enum EventFlag {
    /** The entry contains text of a client that looks like the header of an entry. */
    FORGED_HEADER("forged_header", QueryEvent.class, AuditEvent.class, ErrorEvent.class),
    /** The bytes allow several divisions into entries, so a client may have written the entry or a part of it. */
    FRAMING_AMBIGUOUS("framing_ambiguous", QueryEvent.class, AuditEvent.class, ErrorEvent.class),
    /** The event was read from an old log by a backfill. */
    BACKFILLED("backfilled", QueryEvent.class, AuditEvent.class, ErrorEvent.class),
    /** The server or a limit of Tailrace cut the statement or message. */
    TRUNCATED("truncated", AuditEvent.class, ErrorEvent.class),
    /** The record is not valid JSON or XML: it contains a bare control character or quotation mark. */
    REPAIRED("repaired", AuditEvent.class),
    /** The message is not valid JSON; the event has the members that could be read. */
    MALFORMED_JSON("malformed_json", ErrorEvent.class),
    /** The lines belong to no message. */
    CONTINUATION("continuation", ErrorEvent.class),
    /** The report of InnoDB lacks a part. */
    FRAGMENT("fragment", ErrorEvent.class),

    /** The time is that of an earlier entry. */
    TIME_INHERITED("time_inherited", QueryEvent.class, ErrorEvent.class),
    /** The query time is the result of a clock that was set back; the event's query time is 0. */
    TIME_OVERFLOW("time_overflow", QueryEvent.class),
    /** Local time and {@code SET timestamp} differ by as much as two time zones can. */
    ZONE_DOUBTFUL("zone_doubtful", QueryEvent.class),
    /** The log contains no year; it was derived from the time of reading. */
    YEAR_INFERRED("year_inferred", AuditEvent.class),

    /** The default database is that of an earlier entry. */
    DATABASE_INHERITED("database_inherited", QueryEvent.class, AuditEvent.class),
    /** The record has more than one reading, so the user may be another one. */
    USER_AMBIGUOUS("user_ambiguous", AuditEvent.class),
    /** The log contains no result of the command; the status 0 has no meaning. */
    STATUS_UNKNOWN("status_unknown", AuditEvent.class),
    /** The first command of a connection whose login the general log contains, which therefore succeeded. */
    LOGGED_IN("logged_in", AuditEvent.class),
    /** The redo log is nearly full: InnoDB is near synchronous flushing. */
    CHECKPOINT_AGE_HIGH("checkpoint_age_high", ErrorEvent.class),

    /** The statement may use more tables than the event names. */
    TABLES_INCOMPLETE("tables_incomplete", QueryEvent.class, AuditEvent.class),
    /** The statement may affect more accounts than the event names. */
    ACCOUNTS_INCOMPLETE("accounts_incomplete", QueryEvent.class, AuditEvent.class),
    /** A version comment contains quotes or comments, so servers read the statement differently. */
    VERSION_COMMENT_AMBIGUOUS("version_comment_ambiguous", QueryEvent.class, AuditEvent.class),
    /** {@code OR 1=1}, {@code OR 'a' LIKE 'a'}, {@code OR id=id}: every row matches. */
    TAUTOLOGY("tautology", QueryEvent.class, AuditEvent.class),
    /**
     * {@code AND 5=5}, {@code AND 5=6}, {@code OR 5=6}: a comparison of literals after another condition. Excluded
     * are {@code 1=0}, {@code 1=1} and similar ones, with which frameworks express that nothing or everything
     * matches.
     */
    CONSTANT_CONDITION("constant_condition", QueryEvent.class, AuditEvent.class),
    /**
     * {@code AND ('x' = '' OR name = 'x')}: a comparison of literals after another condition, joined by OR in parentheses
     * with the comparison of a column with one of them. Reports write optional filters this way.
     */
    OPTIONAL_FILTER("optional_filter", QueryEvent.class, AuditEvent.class),
    /**
     * The statement's own WHERE contains only conditions that are true for every row: {@code WHERE 1=1}; of an UPDATE or
     * DELETE also {@code id > 0}, {@code NOT id IS NULL} and {@code a LIKE '%'}.
     */
    EVERY_ROW("every_row", QueryEvent.class, AuditEvent.class),
    /** Every row of literals in a UNION contains a text like a label: {@code UNION SELECT 0, 'All'}. */
    UNION_WITH_LABEL("union_with_label", QueryEvent.class, AuditEvent.class),
    /** A password, token or PIN is compared with LIKE and hardly more than wildcards: {@code token LIKE '%'}. */
    SECRET_WILDCARD("secret_wildcard", QueryEvent.class, AuditEvent.class),
    /** The statement ends with a LIMIT of 10,000 rows or more. */
    LARGE_LIMIT("large_limit", QueryEvent.class, AuditEvent.class),
    /** The statement ends with a LIMIT of 100,000 rows or more. */
    VERY_LARGE_LIMIT("very_large_limit", QueryEvent.class, AuditEvent.class),
    /** The statement ends with a LIMIT that skips 10,000 rows or more. */
    LARGE_OFFSET("large_offset", QueryEvent.class, AuditEvent.class),
    /**
     * An INSERT or UPDATE assigns a value by which an application knows administrators: {@code is_admin = 1}, {@code role =
     * 'admin'}.
     */
    ADMINISTRATOR_VALUE("administrator_value", QueryEvent.class, AuditEvent.class),
    /** The WHERE of an UPDATE compares with the name of the session's own user, or with {@code USER()}. */
    OWN_ACCOUNT("own_account", QueryEvent.class, AuditEvent.class),
    /**
     * An INSERT or UPDATE stores a text that would change a statement into which it is inserted without escaping: {@code x'
     * UNION SELECT}, {@code admin'-- }.
     */
    INJECTION_STORED("injection_stored", QueryEvent.class, AuditEvent.class),
    /**
     * An INSERT or UPDATE stores a text that a browser runs: {@code <script>}, {@code <img onerror=…>}, {@code
     * javascript:…}.
     */
    SCRIPT_STORED("script_stored", QueryEvent.class, AuditEvent.class),
    /** Empty comments take the place of blanks, which hides words from filters. */
    COMMENTS_FOR_BLANKS("comments_for_blanks", QueryEvent.class, AuditEvent.class),
    /** A comment contains the end of a literal or of a parenthesis that was opened before the comment. */
    COMMENT_CUTS_STATEMENT("comment_cuts_statement", QueryEvent.class, AuditEvent.class),
    /** A line of a literal, a comment or a quoted name begins like an entry of a log of MySQL or MariaDB. */
    LOG_ENTRY_IN_TEXT("log_entry_in_text", QueryEvent.class, AuditEvent.class),
    /** The prepared statement is written in hexadecimal digits. */
    DYNAMIC_HEX("dynamic_hex", QueryEvent.class, AuditEvent.class),
    /** Functions assemble the prepared statement from literals, which hides its words. */
    DYNAMIC_ASSEMBLED("dynamic_assembled", QueryEvent.class, AuditEvent.class),
    /** The prepared statement reads or writes a file of the server. */
    DYNAMIC_FILE("dynamic_file", QueryEvent.class, AuditEvent.class),
    /** {@code UNINSTALL} names a library of an audit log. */
    UNINSTALLS_AUDIT("uninstalls_audit", QueryEvent.class, AuditEvent.class),
    /** {@code UNINSTALL} names a library that validates passwords. */
    UNINSTALLS_PASSWORD_CHECK("uninstalls_password_check", QueryEvent.class, AuditEvent.class),
    /** {@code UNINSTALL} names a library that delays failed logins. */
    UNINSTALLS_LOGIN_GUARD("uninstalls_login_guard", QueryEvent.class, AuditEvent.class),
    /** {@code UNINSTALL} names another library. */
    UNINSTALLS_OTHER("uninstalls_other", QueryEvent.class, AuditEvent.class);

    private final String wireName;
    private final Set<Class<?>> events;

    EventFlag(String wireName, Class<?>... events) {
        this.wireName = wireName;
        this.events = Set.of(events);
    }

    /** Returns the name in events, such as {@code truncated}. */
    public String wireName() {
        return wireName;
    }

    /** Returns whether events of this class, such as {@link QueryEvent}, can have the flag. */
    public boolean isOf(Class<?> event) {
        return events.contains(event);
    }

    /**
     * Returns whether an event has the flag.
     *
     * @param flags wire names, the flags of the event
     */
    public boolean isIn(Collection<?> flags) {
        return flags.contains(wireName);
    }

    /**
     * Adds the flag to those of an event.
     *
     * @param flags wire names
     */
    public void addTo(Collection<String> flags) {
        flags.add(wireName);
    }

    /**
     * Removes the flag from those of an event, if it has it.
     *
     * @param flags wire names
     */
    public void removeFrom(Collection<String> flags) {
        flags.remove(wireName);
    }
}
