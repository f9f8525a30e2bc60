package io.tailrace.spans;

import com.google.protobuf.InvalidProtocolBufferException;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.TracesData;
import io.tailrace.framing.DeadLetterCode;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/**
 * Reads messages of the OpenTelemetry Collector's Kafka exporter in its encodings {@code otlp_proto} and {@code
 * otlp_json}, which each message's first byte distinguishes. The first is the protobuf message {@code
 * ExportTraceServiceRequest}, which equals {@code TracesData} on the wire; the second is the same in OTLP's JSON
 * mapping (OTLP 1.9, "JSON Protobuf Encoding"). Not thread-safe.
 *
 * <p>Limits: a message of {@value #MAX_MESSAGE_LENGTH} bytes, values nested as deep as protobuf allows (100),
 * attributes of {@value AttributeFormatter#MAX_LENGTH} characters. No content of a message causes an exception.
 */
public final class SpanReader {

    /** Longest message, bytes. */
    public static final int MAX_MESSAGE_LENGTH = 32 << 20;

    private final AcceptedSpanTimes times;
    private final SpanRecords records = new SpanRecords();
    private final OtlpJson json = new OtlpJson();
    private final MessageProblems problems = new MessageProblems();

    /**
     *
     * @param retention retention of the table; spans that started earlier are rejected, because the table would
     *     delete them immediately
     */
    public SpanReader(Duration retention) {
        this.times = new AcceptedSpanTimes(retention);
    }

    /** Reads one message. */
    public void read(byte[] message, Instant now, SpanListener listener) {
        problems.clear();
        if (message.length > MAX_MESSAGE_LENGTH) {
            problems.malformed(
                    "expected a message of at most " + MAX_MESSAGE_LENGTH + " bytes, found " + message.length);
        } else {
            times.setNow(now);
            decode(message, listener);
        }
        problems.report(listener);
    }

    private void decode(byte[] message, SpanListener listener) {
        try {
            TracesData traces = isJson(message) ? json.read(message) : TracesData.parseFrom(message);
            if (traces.getResourceSpansCount() == 0 && message.length > 0 && !isEmptyJson(message)) {
                problems.malformed("expected resourceSpans in the message, found none of " + message.length + " bytes");
            }
            for (ResourceSpans spans : traces.getResourceSpansList()) {
                read(spans, listener);
            }
        } catch (InvalidProtocolBufferException e) {
            problems.malformed("not a protobuf message TracesData: " + e.getMessage());
        } catch (MalformedJsonException e) {
            problems.malformed("not OTLP JSON: " + e.getMessage());
        } catch (IOException e) {
            problems.malformed("not OTLP JSON: invalid JSON, or nested deeper than " + OtlpJson.MAX_DEPTH);
        }
    }

    /**
     * Returns whether the message is JSON. Protobuf begins with the tag of field 1, which is a line feed, so JSON
     * that begins with a line feed would be read as protobuf. The Collector does not write such JSON.
     */
    private static boolean isJson(byte[] message) {
        return message.length > 0
                && switch (message[0]) {
                    case '{', '[', ' ', '\t', '\r' -> true;
                    default -> false;
                };
    }

    private static boolean isEmptyJson(byte[] message) {
        return message.length == 2 && message[0] == '{' && message[1] == '}';
    }

    private void read(ResourceSpans spans, SpanListener listener) {
        records.startResource(spans.getResource());
        for (ScopeSpans ofScope : spans.getScopeSpansList()) {
            for (Span span : ofScope.getSpansList()) {
                problems.countSpan();
                read(span, ofScope, listener);
            }
        }
    }

    private void read(Span span, ScopeSpans ofScope, SpanListener listener) {
        String wrongIds = SpanIds.validationError(span);
        String wrongTime = wrongIds.isEmpty() ? times.validationError(span) : "";
        if (!wrongIds.isEmpty()) {
            problems.span(DeadLetterCode.MALFORMED_RECORD, wrongIds);
        } else if (!wrongTime.isEmpty()) {
            problems.span(DeadLetterCode.TIME_OUT_OF_RANGE, wrongTime);
        } else {
            listener.span(records.record(span, ofScope.getScope()), records.tables());
        }
    }
}
