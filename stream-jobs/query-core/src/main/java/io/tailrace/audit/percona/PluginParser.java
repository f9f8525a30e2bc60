package io.tailrace.audit.percona;

import io.tailrace.audit.json.JsonRecordReader;
import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.audit.record.RecordResult;
import io.tailrace.audit.record.RecordTime;
import io.tailrace.audit.syslog.SyslogLine;
import io.tailrace.audit.xml.XmlRecordReader;
import io.tailrace.event.AuditEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import io.tailrace.time.CivilTime;

/** Converts a record that {@link PluginMemberHandler} supports, in any syntax, into an {@link AuditEvent}. */
public final class PluginParser implements EntryParser {

    private final String format;
    private final AuditEventBuilder events = new AuditEventBuilder();
    private final PluginMemberHandler members;
    private final XmlRecordReader xml = new XmlRecordReader();
    private final JsonRecordReader json = new JsonRecordReader("audit_record");
    private final CsvRecordReader csv = new CsvRecordReader();
    private final SyslogLine syslog = new SyslogLine();
    private boolean repaired;

    /**
     *
     * @param format name of the events' format
     * @param localTime whether times without a zone are local
     */
    public PluginParser(String format, boolean localTime) {
        this.format = format;
        this.members = new PluginMemberHandler(events, new RecordTime(localTime));
    }

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        byte[] bytes = entry.bytes();
        int end = ByteText.withoutLineEnd(bytes, entry.from(), entry.to());
        AuditEvent event = events.blank();
        members.start(event, entry.origin().zone());
        RecordResult reading = read(bytes, entry.from(), end);
        if (reading != RecordResult.WHOLE) {
            DeadLetterCode code =
                    reading == RecordResult.CUT ? DeadLetterCode.INCOMPLETE : DeadLetterCode.MALFORMED_RECORD;
            out.rejected(code, "expected one whole record of " + format);
        } else if (members.time() == CivilTime.NONE) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD, "expected a timestamp YYYY-MM-DDTHH:MM:SS");
        } else if (event.getCommand().isEmpty()) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD, "expected a member \"name\", found none");
        } else {
            event.setFormat(format);
            members.finish();
            events.inherit(event, entry.context(), members.namesDatabase());
            if (repaired) {
                EventFlag.REPAIRED.addTo(event.getFlags());
            }
            events.place(event, entry, entry.to(), members.time());
            events.report(event, out);
        }
    }

    /** Reads the record in the syntax that its first byte identifies. */
    private RecordResult read(byte[] bytes, int from, int end) {
        repaired = false;
        int start = ByteText.skipBlanks(bytes, from, end);
        if (start == end) {
            return RecordResult.MALFORMED;
        }
        return switch (bytes[start]) {
            case '<' -> syslog.isPriority(bytes, start, end) ? ofSyslog(bytes, start, end) : ofXml(bytes, start, end);
            case '"' -> csv.read(bytes, start, end, members);
            case '{' -> ofJson(bytes, start, end);
            default -> ofSyslog(bytes, start, end);
        };
    }

    private RecordResult ofXml(byte[] bytes, int from, int end) {
        RecordResult reading = xml.read(bytes, from, end, members);
        repaired = xml.isRepaired();
        return reading;
    }

    private RecordResult ofJson(byte[] bytes, int from, int end) {
        RecordResult reading = json.read(bytes, from, end, members);
        repaired = json.isRepaired();
        return reading;
    }

    private RecordResult ofSyslog(byte[] bytes, int from, int end) {
        if (!syslog.read(bytes, from, end)) {
            return RecordResult.MALFORMED;
        }
        byte[] message = syslog.message();
        int length = syslog.messageLength();
        int start = ByteText.skipBlanks(message, 0, length);
        if (start == length) {
            return RecordResult.MALFORMED;
        }
        return switch (message[start]) {
            case '<' -> ofXml(message, start, length);
            case '"' -> csv.read(message, start, length, members);
            case '{' -> ofJson(message, start, length);
            default -> RecordResult.MALFORMED;
        };
    }
}
