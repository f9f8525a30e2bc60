package io.tailrace.audit.mcafee;

import io.tailrace.audit.json.JsonRecordReader;
import io.tailrace.audit.record.AuditEventBuilder;
import io.tailrace.audit.record.AuditFormatNames;
import io.tailrace.audit.record.RecordResult;
import io.tailrace.event.AuditEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import io.tailrace.time.CivilTime;

/** Converts a line of the McAfee (Trellix) mysql-audit plugin, 1.0 and 1.1, into an {@link AuditEvent}. */
public final class McAfeeParser implements EntryParser {

    private final AuditEventBuilder events = new AuditEventBuilder();
    private final McAfeeMemberHandler members = new McAfeeMemberHandler(events);
    private final JsonRecordReader json = new JsonRecordReader();

    @Override
    public void parse(LogEntry entry, ParseListener out) {
        int end = ByteText.withoutLineEnd(entry.bytes(), entry.from(), entry.to());
        AuditEvent event = events.blank();
        members.start(event);
        RecordResult reading = json.read(entry.bytes(), entry.from(), end, members);
        if (reading != RecordResult.WHOLE) {
            DeadLetterCode code =
                    reading == RecordResult.CUT ? DeadLetterCode.INCOMPLETE : DeadLetterCode.MALFORMED_RECORD;
            out.rejected(code, "expected one JSON object per line");
        } else if (members.type().isEmpty() || members.time() == CivilTime.NONE) {
            out.rejected(DeadLetterCode.MALFORMED_RECORD, "expected members \"msg-type\" and \"date\" in milliseconds");
        } else {
            event.setFormat(AuditFormatNames.MCAFEE);
            members.finish();
            events.inherit(event, entry.context(), false);
            members.tables();
            if (json.isRepaired()) {
                EventFlag.REPAIRED.addTo(event.getFlags());
            }
            events.place(event, entry, entry.to(), members.time());
            events.report(event, out);
        }
    }
}
