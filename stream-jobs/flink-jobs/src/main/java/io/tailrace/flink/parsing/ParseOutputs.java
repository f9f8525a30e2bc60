package io.tailrace.flink.parsing;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.Fingerprint;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.QuerySample;
import io.tailrace.event.StatementPlan;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.util.OutputTag;

/** The side outputs of {@link ParseOperator}; its main output contains the query events. */
public final class ParseOutputs {

    public static final OutputTag<AuditEvent> AUDIT_EVENTS =
            new OutputTag<>("audit-events", new AvroTypeInfo<>(AuditEvent.class));
    public static final OutputTag<ErrorEvent> ERROR_EVENTS =
            new OutputTag<>("error-events", new AvroTypeInfo<>(ErrorEvent.class));
    public static final OutputTag<DeadLetter> DEAD_LETTERS =
            new OutputTag<>("dead-letters", new AvroTypeInfo<>(DeadLetter.class));
    public static final OutputTag<LedgerEntry> POSTINGS =
            new OutputTag<>("postings", new AvroTypeInfo<>(LedgerEntry.class));
    public static final OutputTag<QuerySample> SAMPLES =
            new OutputTag<>("samples", new AvroTypeInfo<>(QuerySample.class));
    public static final OutputTag<Fingerprint> FINGERPRINTS =
            new OutputTag<>("fingerprints", new AvroTypeInfo<>(Fingerprint.class));
    public static final OutputTag<StatementPlan> PLANS =
            new OutputTag<>("plans", new AvroTypeInfo<>(StatementPlan.class));

    private ParseOutputs() {}
}
