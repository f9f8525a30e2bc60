package io.tailrace.query;

import io.tailrace.event.QueryEvent;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.fingerprint.OwnAccount;
import io.tailrace.fingerprint.StatementSample;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryDetail;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.identity.EventIds;
import io.tailrace.statement.StatementTables;
import io.tailrace.tags.StatementTags;
import io.tailrace.time.CivilTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The common part of all parsers of query events. A parser calls {@link #blank}, sets what its log contains, and calls
 * {@link #place}, {@link #classify} and {@link #report}, in this order.
 *
 * <p>{@code rows_affected}, {@code bytes_sent} and {@code error_code} are null if they are unknown. {@code lock_time},
 * {@code rows_sent} and {@code rows_examined} have no such value: rules and dashboards read the 0 of a format that does
 * not contain them as a known 0. docs/FORMATS.md names the fields that a format lacks.
 *
 * <p>Stores the flags of the current event. Not thread-safe.
 */
public final class QueryEventBuilder {

    private final String format;
    private final boolean full;
    private final EventIds ids = new EventIds();
    private final Fingerprinter fingerprinter = new Fingerprinter();
    /** Most events have no flags and share the empty list. */
    private List<String> flags = List.of();

    /**
     * @param format name of the format, which is stored with each event
     * @param detail without {@link EntryDetail#FULL}, events get no id
     */
    public QueryEventBuilder(String format, EntryDetail detail) {
        this.format = format;
        full = detail == EntryDetail.FULL;
    }

    /** Returns an event without values, one execution, and clears the flags. */
    public QueryEvent blank() {
        flags = List.of();
        QueryEvent event = new QueryEvent();
        event.setFormat(format);
        event.setUser("");
        event.setHost("");
        event.setIp("");
        event.setDatabase("");
        event.setWeight(1);
        event.setPlanFlags(List.of());
        event.setExplain("");
        event.setPlanHash("");
        event.setAttributes(Map.of());
        return event;
    }

    /** Adds a flag to the current event. */
    public void flag(EventFlag flag) {
        flag.addTo(flagsToExtend());
    }

    private List<String> flagsToExtend() {
        flags = flags.isEmpty() ? new ArrayList<>(2) : flags;
        return flags;
    }

    /**
     * Sets the fields that depend on the position of the event.
     *
     * @param time epoch microseconds
     */
    public void place(QueryEvent event, LogEntry entry, long time) {
        if (full) {
            event.setEventId(ids.event(entry, time));
        }
        event.setCluster(entry.origin().cluster());
        event.setInstance(entry.origin().instance());
        event.setSource(entry.origin().source());
        event.setLog(entry.origin().log());
        event.setGeneration(entry.generation());
        event.setEntryOffset(entry.offset());
        event.setEntryBytes(entry.to() - entry.from());
        event.setEventTime(CivilTime.instant(time));
    }

    /**
     * Sets the class, tables, accounts and tags of the event's statement, and the flags of both. The event's user and
     * examined rows must be set.
     *
     * @param context determines whether the statement is certainly whole
     * @param out receives the id by the previous rules
     * @return the fingerprint
     */
    public String classify(QueryEvent event, EntryContext context, byte[] bytes, int from, int to, ParseListener out) {
        NormalizedStatement shape = fingerprinter.statement(bytes, from, to);
        StatementTables tables = shape.tables();
        boolean complete = isWhole(event, context) ? tables.completeIfWhole() : tables.complete();
        if (!complete) {
            flag(EventFlag.TABLES_INCOMPLETE);
        }
        return classify(event, shape, bytes, from, to, out);
    }

    /**
     * Returns whether nothing follows the text that the log contains. Rows that the server examined contradict: a
     * statement without a table examines none, or one by the count of MySQL 8.
     */
    private static boolean isWhole(QueryEvent event, EntryContext context) {
        return !context.forgedHeader() && !context.ambiguous() && event.getRowsExamined() <= 1;
    }

    /** Does the same for a command that is no statement, such as {@code administrator command: Quit}. */
    public String classifyCommand(QueryEvent event, byte[] bytes, int from, int to, ParseListener out) {
        return classify(event, fingerprinter.administratorCommand(bytes, from, to), bytes, from, to, out);
    }

    private String classify(
            QueryEvent event, NormalizedStatement shape, byte[] bytes, int from, int to, ParseListener out) {
        event.setQueryId(shape.queryId());
        event.setRuleSet(Fingerprinter.RULE_SET);
        event.setVerb(shape.verb());
        event.setTablesRead(shape.tablesRead());
        event.setTablesWritten(shape.tablesWritten());
        tags(event, fingerprinter.tags(bytes));
        List<String> ofStatement = fingerprinter.flags(shape, bytes, from, to);
        if (!ofStatement.isEmpty()) {
            flagsToExtend().addAll(ofStatement);
        }
        if (OwnAccount.isChanged(shape.verb(), event.getUser(), bytes, from, to)) {
            flag(EventFlag.OWN_ACCOUNT);
        }
        event.setAccounts(fingerprinter.accounts(shape, bytes, from, to, event.getUser()));
        if (fingerprinter.accountsAreIncomplete()) {
            flag(EventFlag.ACCOUNTS_INCOMPLETE);
        }
        if (shape.isRenamed()) {
            out.renamed(fingerprinter.previousId(shape, bytes, from, to));
        }
        return shape.fingerprint();
    }

    private static void tags(QueryEvent event, StatementTags tags) {
        event.setTags(tags.tags());
        event.setTraceId(tags.traceId());
        event.setSpanId(tags.spanId());
    }

    /**
     * Reports the event with its flags and those of its context, and with its statement if the listener needs it.
     *
     * @param fingerprint the result of {@link #classify}
     * @param bytes contain the statement from index {@code from} to {@code to}
     */
    public void report(
            QueryEvent event,
            String fingerprint,
            EntryContext context,
            byte[] bytes,
            int from,
            int to,
            ParseListener out) {
        if (context.forgedHeader()) {
            flag(EventFlag.FORGED_HEADER);
        }
        if (context.ambiguous()) {
            flag(EventFlag.FRAMING_AMBIGUOUS);
        }
        event.setFlags(flags);
        out.query(event, fingerprint, out.needsStatement(event) ? StatementSample.of(bytes, from, to) : "");
    }
}
