package io.tailrace.audit.filter;

import io.tailrace.audit.json.JsonRecordReader;
import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.audit.record.RecordResult;
import io.tailrace.audit.record.RecordTime;
import io.tailrace.event.AuditEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.time.CivilTime;

/** Converts an element of the JSON array that {@link FilterMemberHandler} supports into an {@link AuditEvent}. */
public final class AuditFilterParser implements EntryParser {

    private final String format;
    private final AuditEventBuilder events = new AuditEventBuilder();
    private final FilterMemberHandler members;
    private final JsonRecordReader json = new JsonRecordReader();

    /** @param localTime whether the writer's timestamps are local; otherwise they are UTC */
    public AuditFilterParser(String format, boolean localTime) {
        this.format = format;
        this.members = new FilterMemberHandler(events, new RecordTime(localTime));
    }

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        int end = AuditEventBuilder.withoutSeparator(entry.bytes(), entry.from(), entry.to());
        AuditEvent event = events.blank();
        members.start(event, entry.origin().zone());
        RecordResult reading = json.read(entry.bytes(), entry.from(), end, members);
        if (reading != RecordResult.WHOLE) {
            DeadLetterCode code =
                    reading == RecordResult.CUT ? DeadLetterCode.INCOMPLETE : DeadLetterCode.MALFORMED_RECORD;
            out.rejected(code, "expected one whole record of " + format);
        } else if (members.time() == CivilTime.NONE) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD, "expected a timestamp YYYY-MM-DD HH:MM:SS");
        } else if (!members.hasClass()) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD, "expected a member \"class\", found none");
        } else {
            event.setFormat(format);
            members.finish();
            events.inherit(event, entry.context(), false);
            if (json.isRepaired()) {
                EventFlag.REPAIRED.addTo(event.getFlags());
            }
            events.place(event, entry, end, members.time());
            events.report(event, out);
        }
    }
}
