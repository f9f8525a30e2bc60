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
import org.apache.avro.specific.SpecificRecord;

/** Parses the entries of a framed file, and keeps what its parser reports. */
final class Parsed implements ParseListener {

    /** One report: an event with its texts, or a refusal. */
    record Outcome(SpecificRecord event, String fingerprint, String statement, DeadLetterCode code, String message) {}

    private final List<Outcome> outcomes = new ArrayList<>();

    static List<Outcome> of(LogFormat format, FramedLog log) {
        return of(format, log, "UTC");
    }

    static List<Outcome> of(LogFormat format, FramedLog log, String zone) {
        Parsed parsed = new Parsed();
        EntryParser parser = format.newParser();
        String source = KnownFormats.sourceOf(format);
        LogOrigin origin = new LogOrigin("main", "db1", source, format.name(), zone, "/var/log/mysql/db1.log");
        for (FramedLog.Frame frame : log.entries()) {
            int before = parsed.outcomes.size();
            parser.parse(
                    new LogEntry(
                            origin, 1, frame.from(), log.file(), (int) frame.from(), (int) frame.to(), frame.context()),
                    parsed);
            if (parsed.outcomes.size() != before + 1) {
                throw new AssertionError("expected one call for the entry at " + frame.from());
            }
        }
        return parsed.outcomes;
    }

    @Override
    public void query(QueryEvent event, String fingerprint, String statement) {
        outcomes.add(new Outcome(event, fingerprint, statement, null, null));
    }

    @Override
    public void audit(AuditEvent event, String fingerprint, String statement) {
        outcomes.add(new Outcome(event, fingerprint, statement, null, null));
    }

    @Override
    public void error(ErrorEvent event) {
        outcomes.add(new Outcome(event, "", "", null, null));
    }

    @Override
    public void rejected(DeadLetterCode code, String message) {
        outcomes.add(new Outcome(null, null, null, code, message));
    }
}
