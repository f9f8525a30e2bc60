package io.tailrace.formats;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import io.tailrace.framing.ParseListener;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.avro.specific.SpecificRecord;

/** Parses the entries of a framed file and collects the reports of the parser. */
final class Parsed implements ParseListener {

    /** One report: an event with its texts, or a rejection. */
    record Outcome(SpecificRecord event, String fingerprint, String statement, DeadLetterCode code, String message) {}

    private final Consumer<Outcome> out;
    private int count;

    private Parsed(Consumer<Outcome> out) {
        this.out = out;
    }

    static List<Outcome> of(LogFormat format, FramedLog log) {
        return of(format, log, "UTC");
    }

    static List<Outcome> of(LogFormat format, FramedLog log, String zone) {
        List<Outcome> outcomes = new ArrayList<>();
        each(format, log, zone, outcomes::add);
        return outcomes;
    }

    /** Passes the reports on one by one, for logs with too many events to store. */
    static void each(LogFormat format, FramedLog log, Consumer<Outcome> out) {
        each(format, log, "UTC", out);
    }

    private static void each(LogFormat format, FramedLog log, String zone, Consumer<Outcome> out) {
        Parsed parsed = new Parsed(out);
        EntryParser parser = format.newParser();
        String source = FormatRegistry.sourceOf(format);
        LogOrigin origin = new LogOrigin("main", "db1", source, format.name(), zone, "/var/log/mysql/db1.log");
        for (FramedLog.Frame frame : log.entries()) {
            int before = parsed.count;
            parser.parse(
                    new LogEntry(
                            origin, 1, frame.from(), log.file(), (int) frame.from(), (int) frame.to(), frame.context()),
                    parsed);
            if (parsed.count != before + 1) {
                throw new AssertionError("expected one call for the entry at " + frame.from());
            }
        }
    }

    @Override
    public void query(QueryEvent event, String fingerprint, String statement) {
        add(new Outcome(event, fingerprint, statement, null, null));
    }

    @Override
    public void audit(AuditEvent event, String fingerprint, String statement) {
        add(new Outcome(event, fingerprint, statement, null, null));
    }

    @Override
    public void error(ErrorEvent event) {
        add(new Outcome(event, "", "", null, null));
    }

    @Override
    public void rejected(DeadLetterCode code, String message) {
        add(new Outcome(null, null, null, code, message));
    }

    private void add(Outcome outcome) {
        count++;
        out.accept(outcome);
    }
}
