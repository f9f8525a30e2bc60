package io.tailrace.spans;

import static io.tailrace.spans.Messages.SPAN_ID;
import static io.tailrace.spans.Messages.START;
import static io.tailrace.spans.Messages.TRACE_ID;
import static io.tailrace.spans.Messages.id;
import static io.tailrace.spans.Messages.message;
import static io.tailrace.spans.Messages.only;
import static io.tailrace.spans.Messages.read;
import static io.tailrace.spans.Messages.span;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.common.v1.KeyValueList;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import io.tailrace.event.TraceSpan;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.testing.PropertyTestBudget;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpanReaderTest {

    /** Output of the Collector's marshaler, with additions that the mapping allows. */
    private static final String JSON =
            """
            {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}],
            "droppedAttributesCount":0},"scopeSpans":[{"scope":{"name":"io.pymysql","version":"0.60"},"spans":[{
            "traceId":"%s","spanId":"%s","parentSpanId":"","traceState":"a=1","flags":257,
            "name":"SELECT shop","kind":3,"startTimeUnixNano":"%d","endTimeUnixNano":%d,
            "attributes":[{"key":"db.system","value":{"stringValue":"mysql"}},
            {"key":"db.name","value":{"stringValue":"shop"}},
            {"key":"db.statement","value":{"stringValue":"SELECT a FROM t WHERE b = 7"}},
            {"key":"net.peer.port","value":{"intValue":"3306"}},{"key":"ratio","value":{"doubleValue":0.5}},
            {"key":"flag","value":{"boolValue":true}},
            {"key":"list","value":{"arrayValue":{"values":[{"stringValue":"x"},{"intValue":2}]}}},
            {"key":"none","value":{}}, {"key":"bytes","value":{"bytesValue":"AAEC"}}],
            "events":[{"timeUnixNano":"%d","name":"retry","attributes":[{"key":"n","value":{"intValue":"1"}}]}],
            "links":[{"traceId":"%s","spanId":"%s","traceState":"b=2"}],
            "status":{"code":2,"message":"lock wait timeout"},"somethingNew":{"a":[1,{"b":null}]}}]}]}]}
            """
                    .formatted(TRACE_ID, SPAN_ID, START, START + 2_000_000, START + 5, TRACE_ID, SPAN_ID);

    private static Span.Builder sameAsJson() {
        return span().setTraceState("a=1")
                .addAttributes(attribute("db.system", "mysql"))
                .addAttributes(attribute("db.name", "shop"))
                .addAttributes(attribute("db.statement", "SELECT a FROM t WHERE b = 7"))
                .addAttributes(attribute("net.peer.port", AnyValue.newBuilder().setIntValue(3306)))
                .addAttributes(attribute("ratio", AnyValue.newBuilder().setDoubleValue(0.5)))
                .addAttributes(attribute("flag", AnyValue.newBuilder().setBoolValue(true)))
                .addAttributes(attribute(
                        "list",
                        AnyValue.newBuilder()
                                .setArrayValue(ArrayValue.newBuilder()
                                        .addValues(AnyValue.newBuilder().setStringValue("x"))
                                        .addValues(AnyValue.newBuilder().setIntValue(2)))))
                .addAttributes(attribute("none", AnyValue.newBuilder()))
                .addAttributes(attribute(
                        "bytes", AnyValue.newBuilder().setBytesValue(ByteString.copyFrom(new byte[] {0, 1, 2}))))
                .addEvents(Span.Event.newBuilder()
                        .setTimeUnixNano(START + 5)
                        .setName("retry")
                        .addAttributes(attribute("n", AnyValue.newBuilder().setIntValue(1))))
                .addLinks(Span.Link.newBuilder()
                        .setTraceId(id(TRACE_ID))
                        .setSpanId(id(SPAN_ID))
                        .setTraceState("b=2"))
                .setStatus(Status.newBuilder()
                        .setCode(Status.StatusCode.STATUS_CODE_ERROR)
                        .setMessage("lock wait timeout"));
    }

    private static KeyValue attribute(String key, AnyValue.Builder value) {
        return KeyValue.newBuilder().setKey(key).setValue(value).build();
    }

    private static KeyValue attribute(String key, String value) {
        return Messages.attribute(key, value);
    }

    @Test
    void bothEncodingsGiveTheSameSpan() {
        Messages fromJson = read(JSON.getBytes(UTF_8));

        assertThat(fromJson.rejected).isEmpty();
        assertThat(fromJson.spans).containsExactly(only(sameAsJson()));
    }

    @Test
    void aSpanIsWhatTheExporterStores() {
        TraceSpan span = only(sameAsJson());

        assertThat(span.getTimestamp()).isEqualTo(START);
        assertThat(span.getTraceId()).isEqualTo(TRACE_ID);
        assertThat(span.getSpanId()).isEqualTo(SPAN_ID);
        assertThat(span.getParentSpanId()).isEmpty();
        assertThat(span.getSpanKind()).isEqualTo("Client");
        assertThat(span.getServiceName()).isEqualTo("shop");
        assertThat(span.getResourceAttributes()).isEqualTo(Map.of("service.name", "shop"));
        assertThat(span.getScopeName()).isEqualTo("io.pymysql");
        assertThat(span.getDuration()).isEqualTo(2_000_000);
        assertThat(span.getStatusCode()).isEqualTo("Error");
        assertThat(span.getStatusMessage()).isEqualTo("lock wait timeout");
        assertThat(span.getSpanAttributes())
                .containsEntry("net.peer.port", "3306")
                .containsEntry("ratio", "0.5")
                .containsEntry("list", "[\"x\",2]")
                .containsEntry("bytes", "AAEC")
                .containsEntry("none", "");
        assertThat(span.getEventsTimestamp()).containsExactly(START + 5);
        assertThat(span.getEventsName()).containsExactly("retry");
        assertThat(span.getLinksTraceState()).containsExactly("b=2");
        assertThat(span.getDatabase()).isEqualTo("shop");
    }

    @Test
    void anEndBeforeTheStartIsNoDuration() {
        assertThat(only(span().setEndTimeUnixNano(START - 1)).getDuration()).isZero();
    }

    @Test
    void enumsMayBeNames() {
        String named = JSON.replace("\"kind\":3", "\"kind\":\"SPAN_KIND_SERVER\"")
                .replace("\"code\":2", "\"code\":\"STATUS_CODE_OK\"");
        TraceSpan span = read(named.getBytes(UTF_8)).spans.get(0);

        assertThat(span.getSpanKind()).isEqualTo("Server");
        assertThat(span.getStatusCode()).isEqualTo("Ok");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"resourceSpans\":[]}", "{\"resourceSpans\":[{}]}"})
    void messagesWithoutSpansAreNoError(String json) {
        Messages found = read(json.getBytes(UTF_8));

        assertThat(found.spans).isEmpty();
        assertThat(found.rejected.keySet()).isSubsetOf(DeadLetterCode.MALFORMED_MESSAGE);
        assertThat(read(new byte[0]).rejected).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{",
                "{\"resourceSpans\":{}}",
                "{\"resourceSpans\":[1]}",
                "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"kind\":[]}]}]}]} ",
                "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"startTimeUnixNano\":\"soon\"}]}]}]}",
                "{\"resourceSpans\":[]} x",
                "[{\"traceId\":\"1\"}]",
                "{\"resourceLogs\":[]}",
                "hello",
                "\n",
                "\u0001\u0002"
            })
    void invalidMessagesAreRejected(String text) {
        Messages found = read(text.getBytes(UTF_8));

        assertThat(found.spans).isEmpty();
        assertThat(found.rejected.keySet())
                .isSubsetOf(DeadLetterCode.MALFORMED_MESSAGE, DeadLetterCode.MALFORMED_RECORD);
        assertThat(found.rejected).isNotEmpty();
    }

    @Test
    void everyTruncationIsRejectedOrHasWholeSpans() {
        byte[] protobuf = message(sameAsJson().build(), sameAsJson().build()).toByteArray();
        byte[] json = JSON.strip().getBytes(UTF_8);
        for (int length = 1; length < protobuf.length; length++) {
            assertThat(read(Arrays.copyOf(protobuf, length)).rejected).isNotEmpty();
        }
        for (int length = 1; length < json.length; length++) {
            assertThat(read(Arrays.copyOf(json, length)).rejected).isNotEmpty();
        }
    }

    @Test
    void changedBytesNeverThrow() {
        Random random = new Random(1);
        byte[] protobuf = message(sameAsJson().build()).toByteArray();
        byte[] json = JSON.getBytes(UTF_8);
        for (int round = 0; round < PropertyTestBudget.of(4_000, 20_000); round++) {
            read(changed(round % 2 == 0 ? protobuf : json, random));
        }
    }

    private static byte[] changed(byte[] bytes, Random random) {
        byte[] changed = bytes.clone();
        for (int i = 0; i <= random.nextInt(4); i++) {
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
        }
        return changed;
    }

    @Test
    void badSpansLeaveTheGoodOnes() {
        Messages found = read(message(
                        span().build(),
                        span().setTraceId(ByteString.copyFrom(new byte[16])).build(),
                        span().setTraceId(id("4bf92f35")).build(),
                        span().clearSpanId().build(),
                        span().setParentSpanId(id("00")).build(),
                        span().setStartTimeUnixNano(0).build(),
                        span().setStartTimeUnixNano(-1).build())
                .toByteArray());

        assertThat(found.spans).hasSize(1);
        assertThat(found.rejected.get(DeadLetterCode.MALFORMED_RECORD))
                .isEqualTo(
                        "4 of 7 spans: expected a trace id of 16 bytes that are not all zero, found 16 bytes of zero");
        assertThat(found.rejected.get(DeadLetterCode.TIME_OUT_OF_RANGE))
                .isEqualTo("2 of 7 spans: start 1970-01-01T00:00:00Z is older than the retention of 30 days");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "xyz", "4bf92f3577b34da6a3ce929d0e0e473", "S/kvNXezTaajzpKdDg5HNg=="})
    void idsOfJsonAreHexadecimal(String traceId) {
        Messages found = read(JSON.replace("\"traceId\":\"" + TRACE_ID, "\"traceId\":\"" + traceId)
                .getBytes(UTF_8));

        assertThat(found.spans).isEmpty();
        assertThat(found.rejected).containsOnlyKeys(DeadLetterCode.MALFORMED_RECORD);
    }

    @Test
    void aParentOfZerosIsNone() {
        assertThat(only(span().setParentSpanId(ByteString.copyFrom(new byte[8])))
                        .getParentSpanId())
                .isEmpty();
    }

    @Test
    void deepNestingIsRejected() {
        AnyValue value = AnyValue.newBuilder().setStringValue("x").build();
        for (int depth = 0; depth < 300; depth++) {
            value = depth % 2 == 0
                    ? AnyValue.newBuilder()
                            .setArrayValue(ArrayValue.newBuilder().addValues(value))
                            .build()
                    : AnyValue.newBuilder()
                            .setKvlistValue(KeyValueList.newBuilder()
                                    .addValues(KeyValue.newBuilder().setKey("k").setValue(value)))
                            .build();
        }
        byte[] protobuf = deep(value);
        String json =
                JSON.replace("{\"boolValue\":true}", "{\"arrayValue\":{\"values\":[".repeat(5000) + "]}}".repeat(5000));

        assertThat(read(protobuf).rejected).containsOnlyKeys(DeadLetterCode.MALFORMED_MESSAGE);
        assertThat(read(json.getBytes(UTF_8)).rejected).containsOnlyKeys(DeadLetterCode.MALFORMED_MESSAGE);
    }

    private static byte[] deep(AnyValue value) {
        return message(span().addAttributes(attribute("deep", value.toBuilder()))
                        .build())
                .toByteArray();
    }

    @Test
    void tenMegabytesAreRead() {
        String text = "x".repeat(10 << 20);
        TraceSpan span = only(span().addAttributes(attribute("big", text)));
        Messages json = read(JSON.replace("\"0.60\"", '"' + text + '"').getBytes(UTF_8));

        assertThat(span.getSpanAttributes().get("big")).hasSize(AttributeFormatter.MAX_LENGTH);
        assertThat(json.spans.get(0).getScopeVersion()).hasSize(AttributeFormatter.MAX_LENGTH);
    }

    @Test
    void moreThanTheLimitIsRejected() {
        assertThat(read(new byte[SpanReader.MAX_MESSAGE_LENGTH + 1]).rejected)
                .containsOnlyKeys(DeadLetterCode.MALFORMED_MESSAGE);
    }

    @Test
    void errorsContainNoBytesOfTheMessage() {
        String secret = "{\"resourceSpans\": [{\"resource\": 4111111111111111, \"hunter2\": hunter2";

        assertThat(read(secret.getBytes(UTF_8)).rejected.values()).noneMatch(text -> text.contains("4111"));
        assertThat(List.copyOf(read(secret.getBytes(UTF_8)).rejected.values()).get(0))
                .doesNotContain("hunter2");
    }
}
