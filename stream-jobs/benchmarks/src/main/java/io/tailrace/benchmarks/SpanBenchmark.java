package io.tailrace.benchmarks;

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
import io.tailrace.spans.SpanListener;
import io.tailrace.spans.SpanReader;
import io.tailrace.statement.StatementTables;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Measures spans per second and core, from message to masked record: one fifth are requests, four fifths MySQL calls.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class SpanBenchmark {

    private static final int SPANS = 1000;
    private static final int SPANS_OF_REQUEST = 5;
    private static final Instant NOW = Instant.parse("2026-11-21T08:00:00Z");
    private static final String[] STATEMENTS = {
        "SELECT o.id, o.total, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = %d",
        "SELECT * FROM items WHERE order_id = %d AND state IN ('open', 'paid') ORDER BY position LIMIT 50",
        "UPDATE stock SET amount = amount - 1 WHERE item = %d AND store = 'berlin-3'",
        "INSERT INTO audit (who, what, at) VALUES ('app', 'order %d', '2026-11-21 08:00:00')",
    };

    /** The Collector's name of the encoding. */
    @Param({"otlp_proto", "otlp_json"})
    private String encoding;

    private byte[] message;
    private final SpanReader reader = new SpanReader(Duration.ofDays(30));

    /** Creates the message and checks that each span is found in it. */
    @Setup
    public void makeMessage() {
        TracesData traces = traces();
        message = "otlp_json".equals(encoding) ? json(traces) : traces.toByteArray();
        int[] found = new int[2];
        reader.read(message, NOW, new SpanListener() {
            @Override
            public void span(TraceSpan span, StatementTables tables) {
                found[0]++;
                found[1] += span.getQueryId() != 0 ? 1 : 0;
            }

            @Override
            public void rejected(DeadLetterCode code, String text) {
                throw new IllegalStateException(text);
            }
        });
        if (found[0] != SPANS || found[1] != SPANS - SPANS / SPANS_OF_REQUEST) {
            throw new IllegalStateException("found " + found[0] + " spans, " + found[1] + " with a query id");
        }
    }

    private static TracesData traces() {
        ScopeSpans.Builder spans = ScopeSpans.newBuilder()
                .setScope(
                        InstrumentationScope.newBuilder().setName("io.pymysql").setVersion("0.60"));
        for (int i = 0; i < SPANS; i++) {
            spans.addSpans(span(i));
        }
        Resource.Builder resource = Resource.newBuilder();
        for (String name : new String[] {"service.name", "service.version", "host.name", "telemetry.sdk.name"}) {
            resource.addAttributes(attribute(name, "shop"));
        }
        return TracesData.newBuilder()
                .addResourceSpans(
                        ResourceSpans.newBuilder().setResource(resource).addScopeSpans(spans))
                .build();
    }

    private static Span span(int number) {
        long start = TimeUnit.SECONDS.toNanos(NOW.getEpochSecond()) + number;
        Span.Builder span = Span.newBuilder()
                .setTraceId(id(16, number / SPANS_OF_REQUEST + 1))
                .setSpanId(id(8, number + 1))
                .setStartTimeUnixNano(start)
                .setEndTimeUnixNano(start + 1_500_000);
        int place = number % SPANS_OF_REQUEST;
        return place == 0
                ? request(span)
                : call(span, STATEMENTS[place - 1].formatted(number)).build();
    }

    private static Span request(Span.Builder span) {
        return span.setName("GET /orders/{id}")
                .setKind(Span.SpanKind.SPAN_KIND_SERVER)
                .addAttributes(attribute("http.request.method", "GET"))
                .addAttributes(attribute("http.route", "/orders/{id}"))
                .addAttributes(attribute("url.path", "/orders/17"))
                .addAttributes(attribute("user_agent.original", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"))
                .build();
    }

    private static Span.Builder call(Span.Builder span, String statement) {
        return span.setName("SELECT shop")
                .setKind(Span.SpanKind.SPAN_KIND_CLIENT)
                .setParentSpanId(id(8, 7))
                .addAttributes(attribute("db.system.name", "mysql"))
                .addAttributes(attribute("db.namespace", "shop"))
                .addAttributes(attribute("db.query.text", statement))
                .addAttributes(attribute("server.address", "db-1.example.org"))
                .addAttributes(KeyValue.newBuilder()
                        .setKey("server.port")
                        .setValue(AnyValue.newBuilder().setIntValue(3306))
                        .build());
    }

    private static KeyValue attribute(String key, String value) {
        return KeyValue.newBuilder()
                .setKey(key)
                .setValue(AnyValue.newBuilder().setStringValue(value))
                .build();
    }

    private static ByteString id(int bytes, long number) {
        return ByteString.copyFrom(
                ByteBuffer.allocate(bytes).putLong(bytes - 8, number).array());
    }

    private static byte[] json(TracesData traces) {
        StringBuilder json = new StringBuilder("{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
        ResourceSpans spans = traces.getResourceSpans(0);
        append(spans.getResource().getAttributesList(), json);
        json.append("]},\"scopeSpans\":[{\"scope\":{\"name\":\"io.pymysql\",\"version\":\"0.60\"},\"spans\":[");
        String comma = "";
        for (Span span : spans.getScopeSpans(0).getSpansList()) {
            json.append(comma);
            append(span, json);
            comma = ",";
        }
        return json.append("]}]}]}").toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void append(Span span, StringBuilder json) {
        json.append("{\"traceId\":\"").append(hex(span.getTraceId()));
        json.append("\",\"spanId\":\"").append(hex(span.getSpanId()));
        json.append("\",\"parentSpanId\":\"").append(hex(span.getParentSpanId()));
        json.append("\",\"name\":\"").append(span.getName());
        json.append("\",\"kind\":").append(span.getKindValue());
        json.append(",\"startTimeUnixNano\":\"").append(span.getStartTimeUnixNano());
        json.append("\",\"endTimeUnixNano\":\"").append(span.getEndTimeUnixNano());
        json.append("\",\"attributes\":[");
        append(span.getAttributesList(), json);
        json.append("],\"status\":{}}");
    }

    private static void append(Iterable<KeyValue> attributes, StringBuilder json) {
        String comma = "";
        for (KeyValue attribute : attributes) {
            AnyValue value = attribute.getValue();
            json.append(comma).append("{\"key\":\"").append(attribute.getKey()).append("\",\"value\":{");
            if (value.hasIntValue()) {
                json.append("\"intValue\":\"").append(value.getIntValue()).append("\"}}");
            } else {
                json.append("\"stringValue\":\"").append(value.getStringValue()).append("\"}}");
            }
            comma = ",";
        }
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }

    @Benchmark
    @OperationsPerInvocation(SPANS)
    public void read(Blackhole hole) {
        reader.read(message, NOW, new SpanListener() {
            @Override
            public void span(TraceSpan span, StatementTables tables) {
                hole.consume(span);
            }

            @Override
            public void rejected(DeadLetterCode code, String text) {
                throw new IllegalStateException(text);
            }
        });
    }
}
