package io.tailrace.spans;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.ArrayValue;
import io.opentelemetry.proto.common.v1.InstrumentationScope;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.common.v1.KeyValueList;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import io.opentelemetry.proto.trace.v1.TracesData;
import java.io.IOException;
import java.util.Base64;
import java.util.HexFormat;

/**
 * Reads OTLP's JSON: the JSON mapping of protobuf, but with ids in hexadecimal digits and enums as numbers. Names are
 * in lowerCamelCase, 64-bit numbers are strings or numbers, and unknown names and nulls are skipped. protobuf's own
 * JSON reader is not usable, because it decodes ids as base 64.
 */
final class OtlpJson {

    /** Deepest nesting of objects and arrays; one nested value needs three levels. */
    static final int MAX_DEPTH = 200;

    private static final int MAX_NUMBER_LENGTH = 64;
    private static final int MAX_ID_DIGITS = 64;

    private final JsonFactory factory = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxStringLength(SpanReader.MAX_MESSAGE_LENGTH)
                    .maxNumberLength(MAX_NUMBER_LENGTH)
                    .build())
            .build();

    @FunctionalInterface
    private interface Member {
        void read(JsonParser in, String name) throws IOException;
    }

    @FunctionalInterface
    private interface Item {
        void read(JsonParser in) throws IOException;
    }

    /**
     *
     * @throws IOException if the message is not JSON or too deep; {@link MalformedJsonException} if it is not OTLP's
     */
    TracesData read(byte[] message) throws IOException {
        TracesData.Builder traces = TracesData.newBuilder();
        try (JsonParser in = factory.createParser(message)) {
            in.nextToken();
            object(in, (parser, name) -> {
                if ("resourceSpans".equals(name)) {
                    array(parser, item -> traces.addResourceSpans(resourceSpans(item)));
                } else {
                    parser.skipChildren();
                }
            });
            if (in.nextToken() != null) {
                throw new MalformedJsonException("text follows the object");
            }
        }
        return traces.build();
    }

    /** Reads the object whose first token is the current one; each member must consume its value. */
    private static void object(JsonParser in, Member member) throws IOException {
        expect(in, JsonToken.START_OBJECT);
        while (in.nextToken() == JsonToken.FIELD_NAME) {
            String name = in.currentName();
            if (in.nextToken() != JsonToken.VALUE_NULL) {
                member.read(in, name);
            }
        }
        expect(in, JsonToken.END_OBJECT);
    }

    private static void array(JsonParser in, Item item) throws IOException {
        expect(in, JsonToken.START_ARRAY);
        while (in.nextToken() != JsonToken.END_ARRAY) {
            item.read(in);
        }
    }

    private static void expect(JsonParser in, JsonToken wanted) throws IOException {
        if (in.currentToken() != wanted) {
            String place = "expected " + wanted + ", found " + in.currentToken();
            throw new MalformedJsonException(
                    place + " at byte " + in.currentLocation().getByteOffset());
        }
    }

    private static ResourceSpans resourceSpans(JsonParser in) throws IOException {
        ResourceSpans.Builder spans = ResourceSpans.newBuilder();
        object(in, (parser, name) -> {
            switch (name) {
                case "resource" -> spans.setResource(resource(parser));
                case "scopeSpans" -> array(parser, item -> spans.addScopeSpans(scopeSpans(item)));
                default -> parser.skipChildren();
            }
        });
        return spans.build();
    }

    private static Resource resource(JsonParser in) throws IOException {
        Resource.Builder resource = Resource.newBuilder();
        object(in, (parser, name) -> {
            if ("attributes".equals(name)) {
                array(parser, item -> resource.addAttributes(keyValue(item)));
            } else {
                parser.skipChildren();
            }
        });
        return resource.build();
    }

    private static ScopeSpans scopeSpans(JsonParser in) throws IOException {
        ScopeSpans.Builder spans = ScopeSpans.newBuilder();
        object(in, (parser, name) -> {
            switch (name) {
                case "scope" -> spans.setScope(scope(parser));
                case "spans" -> array(parser, item -> spans.addSpans(span(item)));
                default -> parser.skipChildren();
            }
        });
        return spans.build();
    }

    private static InstrumentationScope scope(JsonParser in) throws IOException {
        InstrumentationScope.Builder scope = InstrumentationScope.newBuilder();
        object(in, (parser, name) -> {
            switch (name) {
                case "name" -> scope.setName(text(parser));
                case "version" -> scope.setVersion(text(parser));
                default -> parser.skipChildren();
            }
        });
        return scope.build();
    }

    private static Span span(JsonParser in) throws IOException {
        Span.Builder span = Span.newBuilder();
        object(in, (parser, name) -> {
            switch (name) {
                case "traceId" -> span.setTraceId(id(parser));
                case "spanId" -> span.setSpanId(id(parser));
                case "parentSpanId" -> span.setParentSpanId(id(parser));
                case "traceState" -> span.setTraceState(text(parser));
                case "name" -> span.setName(text(parser));
                case "kind" -> span.setKindValue(kind(parser));
                case "startTimeUnixNano" -> span.setStartTimeUnixNano(unsigned(parser));
                case "endTimeUnixNano" -> span.setEndTimeUnixNano(unsigned(parser));
                case "attributes" -> array(parser, item -> span.addAttributes(keyValue(item)));
                case "events" -> array(parser, item -> span.addEvents(event(item)));
                case "links" -> array(parser, item -> span.addLinks(link(item)));
                case "status" -> span.setStatus(status(parser));
                default -> parser.skipChildren();
            }
        });
        return span.build();
    }

    private static Span.Event event(JsonParser in) throws IOException {
        Span.Event.Builder event = Span.Event.newBuilder();
        object(in, (parser, name) -> {
            switch (name) {
                case "timeUnixNano" -> event.setTimeUnixNano(unsigned(parser));
                case "name" -> event.setName(text(parser));
                case "attributes" -> array(parser, item -> event.addAttributes(keyValue(item)));
                default -> parser.skipChildren();
            }
        });
        return event.build();
    }

    private static Span.Link link(JsonParser in) throws IOException {
        Span.Link.Builder link = Span.Link.newBuilder();
        object(in, (parser, name) -> {
            switch (name) {
                case "traceId" -> link.setTraceId(id(parser));
                case "spanId" -> link.setSpanId(id(parser));
                case "traceState" -> link.setTraceState(text(parser));
                case "attributes" -> array(parser, item -> link.addAttributes(keyValue(item)));
                default -> parser.skipChildren();
            }
        });
        return link.build();
    }

    private static Status status(JsonParser in) throws IOException {
        Status.Builder status = Status.newBuilder();
        object(in, (parser, name) -> {
            switch (name) {
                case "code" -> status.setCodeValue(statusCode(parser));
                case "message" -> status.setMessage(text(parser));
                default -> parser.skipChildren();
            }
        });
        return status.build();
    }

    private static KeyValue keyValue(JsonParser in) throws IOException {
        KeyValue.Builder pair = KeyValue.newBuilder();
        object(in, (parser, name) -> {
            switch (name) {
                case "key" -> pair.setKey(text(parser));
                case "value" -> pair.setValue(anyValue(parser));
                default -> parser.skipChildren();
            }
        });
        return pair.build();
    }

    private static AnyValue anyValue(JsonParser in) throws IOException {
        AnyValue.Builder value = AnyValue.newBuilder();
        object(in, (parser, name) -> {
            switch (name) {
                case "stringValue" -> value.setStringValue(text(parser));
                case "boolValue" -> value.setBoolValue(isTrue(parser));
                case "intValue" -> value.setIntValue(signed(parser));
                case "doubleValue" -> value.setDoubleValue(real(parser));
                case "bytesValue" -> value.setBytesValue(base64(parser));
                case "arrayValue" -> value.setArrayValue(arrayValue(parser));
                case "kvlistValue" -> value.setKvlistValue(keyValueList(parser));
                default -> parser.skipChildren();
            }
        });
        return value.build();
    }

    private static ArrayValue arrayValue(JsonParser in) throws IOException {
        ArrayValue.Builder values = ArrayValue.newBuilder();
        object(in, (parser, name) -> {
            if ("values".equals(name)) {
                array(parser, item -> values.addValues(anyValue(item)));
            } else {
                parser.skipChildren();
            }
        });
        return values.build();
    }

    private static KeyValueList keyValueList(JsonParser in) throws IOException {
        KeyValueList.Builder pairs = KeyValueList.newBuilder();
        object(in, (parser, name) -> {
            if ("values".equals(name)) {
                array(parser, item -> pairs.addValues(keyValue(item)));
            } else {
                parser.skipChildren();
            }
        });
        return pairs.build();
    }

    private static String text(JsonParser in) throws IOException {
        expect(in, JsonToken.VALUE_STRING);
        return in.getText();
    }

    private static boolean isTrue(JsonParser in) throws IOException {
        if (in.currentToken() == JsonToken.VALUE_TRUE) {
            return true;
        }
        expect(in, JsonToken.VALUE_FALSE);
        return false;
    }

    /** Reads hexadecimal digits. Any other text becomes an empty id, for which the span is rejected. */
    private static ByteString id(JsonParser in) throws IOException {
        String digits = text(in);
        boolean good = digits.length() % 2 == 0
                && digits.length() <= MAX_ID_DIGITS
                && digits.chars().allMatch(HexFormat::isHexDigit);
        return good ? ByteString.copyFrom(HexFormat.of().parseHex(digits)) : ByteString.EMPTY;
    }

    private static ByteString base64(JsonParser in) throws IOException {
        String text = text(in);
        try {
            return ByteString.copyFrom(Base64.getDecoder().decode(text));
        } catch (IllegalArgumentException e) {
            throw new MalformedJsonException("a bytesValue is not base 64");
        }
    }

    private static long unsigned(JsonParser in) throws IOException {
        String digits = in.getText();
        try {
            return Long.parseUnsignedLong(digits);
        } catch (NumberFormatException e) {
            throw noNumber(in);
        }
    }

    private static long signed(JsonParser in) throws IOException {
        try {
            return Long.parseLong(in.getText());
        } catch (NumberFormatException e) {
            throw noNumber(in);
        }
    }

    /**
     * Reads a floating-point number. JSON has no NaN and no infinity; protobuf's mapping writes them as strings,
     * which Java can parse.
     */
    private static double real(JsonParser in) throws IOException {
        try {
            return Double.parseDouble(in.getText());
        } catch (NumberFormatException e) {
            throw noNumber(in);
        }
    }

    private static MalformedJsonException noNumber(JsonParser in) throws IOException {
        return new MalformedJsonException("expected a number for " + in.currentName() + ", found " + in.currentToken());
    }

    /** Reads an enum. OTLP allows only numbers; names, which protobuf's mapping writes, are accepted as well. */
    private static int kind(JsonParser in) throws IOException {
        if (in.currentToken() == JsonToken.VALUE_NUMBER_INT) {
            return (int) signed(in);
        }
        for (Span.SpanKind kind : Span.SpanKind.values()) {
            if (kind.name().equals(in.getText())) {
                return kind.getNumber();
            }
        }
        return 0;
    }

    private static int statusCode(JsonParser in) throws IOException {
        if (in.currentToken() == JsonToken.VALUE_NUMBER_INT) {
            return (int) signed(in);
        }
        for (Status.StatusCode code : Status.StatusCode.values()) {
            if (code.name().equals(in.getText())) {
                return code.getNumber();
            }
        }
        return 0;
    }
}
