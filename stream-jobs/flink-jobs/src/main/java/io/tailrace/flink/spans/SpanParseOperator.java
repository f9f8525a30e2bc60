package io.tailrace.flink.spans;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.Fingerprint;
import io.tailrace.event.TraceSpan;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.ingest.MalformedMessageHandler;
import io.tailrace.flink.parsing.ParseOutputs;
import io.tailrace.flink.parsing.StatementEmissionCache;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.spans.SpanListener;
import io.tailrace.spans.SpanReader;
import io.tailrace.statement.StatementTables;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/**
 * Converts OpenTelemetry's messages to spans, and emits the fingerprints of their statements, some of which are in no
 * log. It has no state: a message becomes spans or dead letters immediately.
 */
public final class SpanParseOperator extends AbstractStreamOperator<TraceSpan>
        implements OneInputStreamOperator<KafkaMessage, TraceSpan> {

    private static final long serialVersionUID = 1;

    private final Duration retention;
    private final OutputTag<DeadLetter> deadLetters;
    private final String version;

    private transient SpanReader reader;
    private transient StatementEmissionCache statements;
    private transient Outputs outputs;

    /**
     * @param retention retention of the table of spans
     * @param deadLetters side output for messages that cannot be read completely
     * @param version version of Tailrace, for dead letters
     */
    public SpanParseOperator(Duration retention, OutputTag<DeadLetter> deadLetters, String version) {
        this.retention = retention;
        this.deadLetters = deadLetters;
        this.version = version;
    }

    @Override
    public void open() throws Exception {
        super.open();
        reader = new SpanReader(retention);
        statements = new StatementEmissionCache();
        outputs = new Outputs();
    }

    @Override
    public void processElement(StreamRecord<KafkaMessage> element) {
        outputs.message = element.getValue();
        outputs.now = Instant.ofEpochMilli(getProcessingTimeService().getCurrentProcessingTime());
        reader.read(outputs.message.value(), outputs.now, outputs);
    }

    private static Fingerprint fingerprint(TraceSpan span, StatementTables tables) {
        Instant began = Instant.EPOCH.plus(span.getTimestamp(), ChronoUnit.NANOS);
        return new Fingerprint(
                span.getQueryId(),
                span.getRuleSet(),
                span.getFingerprint(),
                tables.verb(),
                began.truncatedTo(ChronoUnit.MICROS),
                Fingerprinter.namesInClass(tables.read(), span.getFingerprint()),
                Fingerprinter.namesInClass(tables.written(), span.getFingerprint()),
                List.of());
    }

    private final class Outputs implements SpanListener {

        private KafkaMessage message;
        private Instant now;

        @Override
        public void span(TraceSpan span, StatementTables tables) {
            output.collect(new StreamRecord<>(span));
            boolean hasClass = !span.getRuleSet().isEmpty();
            if (hasClass && statements.of(span.getQueryId(), span.getRuleSet()).takeFingerprint(now.toEpochMilli())) {
                output.collect(ParseOutputs.FINGERPRINTS, new StreamRecord<>(fingerprint(span, tables)));
            }
        }

        @Override
        public void rejected(DeadLetterCode code, String error) {
            DeadLetter letter = MalformedMessageHandler.deadLetter(message, code, error, now, version);
            output.collect(deadLetters, new StreamRecord<>(letter));
        }
    }
}
