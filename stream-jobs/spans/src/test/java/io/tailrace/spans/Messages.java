package io.tailrace.spans;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.TracesData;
import io.tailrace.event.TraceSpan;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.statement.StatementTables;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Creates messages for tests and collects their results. */
final class Messages implements SpanListener {

    static final String TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
    static final String SPAN_ID = "00f067aa0ba902b7";
    static final Instant NOW = Instant.parse("2026-11-21T08:00:00Z");
    static final long START = NOW.getEpochSecond() * 1_000_000_000L + 123_456_789;

    private static final SpanReader READER = new SpanReader(Duration.ofDays(30));

    final List<TraceSpan> spans = new ArrayList<>();
    final Map<DeadLetterCode, String> rejected = new EnumMap<>(DeadLetterCode.class);

    @Override
    public void span(TraceSpan span, StatementTables tables) {
        spans.add(span);
    }

    @Override
    public void rejected(DeadLetterCode code, String message) {
        rejected.put(code, message);
    }

    static Messages read(byte[] message) {
        Messages found = new Messages();
        READER.read(message, NOW, found);
        return found;
    }

    /** Returns the only span of a message with one span. */
    static TraceSpan only(Span.Builder span) {
        Messages found = read(message(span.build()).toByteArray());
        if (found.spans.size() != 1) {
            throw new AssertionError("expected one span, found " + found.spans.size() + ", " + found.rejected);
        }
        return found.spans.get(0);
    }

    static TracesData message(Span... spans) {
        return TracesData.newBuilder()
                .addResourceSpans(ResourceSpans.newBuilder()
                        .setResource(Resource.newBuilder().addAttributes(attribute("service.name", "shop")))
                        .addScopeSpans(ScopeSpans.newBuilder()
                                .setScope(InstrumentationScope.newBuilder()
                                        .setName("io.pymysql")
                                        .setVersion("0.60"))
                                .addAllSpans(List.of(spans))))
                .build();
    }

    static Span.Builder span() {
        return Span.newBuilder()
                .setTraceId(id(TRACE_ID))
                .setSpanId(id(SPAN_ID))
                .setName("SELECT shop")
                .setKind(Span.SpanKind.SPAN_KIND_CLIENT)
                .setStartTimeUnixNano(START)
                .setEndTimeUnixNano(START + 2_000_000);
    }

    /** Creates a database call by the stable conventions. */
    static Span.Builder call(String system, String statement) {
        return span().addAttributes(attribute("db.system.name", system))
                .addAttributes(attribute("db.query.text", statement));
    }

    static ByteString id(String digits) {
        return ByteString.copyFrom(HexFormat.of().parseHex(digits));
    }

    static KeyValue attribute(String key, String value) {
        return KeyValue.newBuilder()
                .setKey(key)
                .setValue(AnyValue.newBuilder().setStringValue(value))
                .build();
    }
}
