package io.tailrace.audit;

import io.tailrace.event.AuditEvent;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.Secrets;
import io.tailrace.fingerprint.StatementShape;
import io.tailrace.framing.LogEntry;
import io.tailrace.identity.EventIds;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StatementScanner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;

/** What both audit parsers do alike: an event's place and identity, and its statement. Not thread-safe. */
final class AuditEvents {

    /** Longest statement that is given to the listener, bytes. */
    private static final int LONGEST_SAMPLE = 64 << 10;

    private final EventIds ids = new EventIds();
    private final Fingerprinter fingerprinter = new Fingerprinter();
    private final StatementScanner scanner = new StatementScanner();

    /** An event with its place, and nothing else known. */
    AuditEvent at(LogEntry entry, String format, long epochSecond) {
        AuditEvent event = new AuditEvent();
        event.setEventId(ids.event(entry, epochSecond * 1_000_000));
        event.setCluster(entry.origin().cluster());
        event.setInstance(entry.origin().instance());
        event.setSource(entry.origin().source());
        event.setLog(entry.origin().log());
        event.setGeneration(entry.generation());
        event.setEntryOffset(entry.offset());
        event.setEntryBytes(entry.to() - entry.from());
        event.setFormat(format);
        event.setEventTime(Instant.ofEpochSecond(epochSecond));
        event.setCommandClass("");
        event.setUser("");
        event.setPrivUser("");
        event.setProxyUser("");
        event.setOsUser("");
        event.setHost("");
        event.setIp("");
        event.setDatabase("");
        event.setObject("");
        event.setRuleSet("");
        event.setVerb("");
        event.setAttributes(new HashMap<>());
        event.setFlags(new ArrayList<>(1));
        return event;
    }

    /** Adds the statement's class to the event and returns its fingerprint. */
    String classify(AuditEvent event, byte[] statement, int length) {
        StatementShape shape = fingerprinter.statement(statement, 0, length);
        event.setQueryId(shape.queryId());
        event.setRuleSet(Fingerprinter.RULE_SET);
        event.setVerb(shape.verb());
        return shape.fingerprint();
    }

    /** The statement ends within a literal or comment: one that the server accepted was cut by the plugin. */
    boolean isCut(byte[] statement, int length) {
        scanner.reset();
        int i = 0;
        while (i < length) {
            int end = ByteText.lineFeed(statement, i, length);
            scanner.line(statement, i, end);
            i = end + 1;
        }
        return scanner.insideLiteral();
    }

    /** The statement as logged, or nothing where it may set a password. */
    static String sample(byte[] statement, int length) {
        return Secrets.mayHold(statement, 0, length)
                ? ""
                : ByteText.utf8(statement, 0, Math.min(length, LONGEST_SAMPLE));
    }
}
