package io.tailrace.spans;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import java.util.Base64;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Converts values of attributes to text, in the format of the OpenTelemetry Collector's ClickHouse exporter: strings
 * unchanged, bytes in base 64, lists and maps as JSON.
 */
final class AttributeFormatter {

    /** Longest text, characters; the rest is cut off. */
    static final int MAX_LENGTH = 64 << 10;

    private static final char FIRST_PRINTABLE = ' ';

    private AttributeFormatter() {}

    /** @param mask applied to each text, also in lists and maps */
    static String of(AnyValue value, UnaryOperator<String> mask) {
        return switch (value.getValueCase()) {
            case STRING_VALUE -> mask.apply(cut(value.getStringValue()));
            case BOOL_VALUE -> Boolean.toString(value.getBoolValue());
            case INT_VALUE -> Long.toString(value.getIntValue());
            case DOUBLE_VALUE -> number(value.getDoubleValue());
            case BYTES_VALUE -> cut(base64(value.getBytesValue()));
            case ARRAY_VALUE, KVLIST_VALUE -> {
                StringBuilder json = new StringBuilder();
                append(value, mask, json);
                yield cut(json.toString());
            }
            default -> "";
        };
    }

    static String cut(String text) {
        if (text.length() <= MAX_LENGTH) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(MAX_LENGTH - 1)) ? MAX_LENGTH - 1 : MAX_LENGTH;
        return text.substring(0, end);
    }

    private static String base64(ByteString bytes) {
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    /** Formats whole numbers without a fraction, like Go. */
    private static String number(double value) {
        boolean whole = value == Math.rint(value) && Math.abs(value) < 1e15;
        return whole ? Long.toString((long) value) : Double.toString(value);
    }

    private static void append(AnyValue value, UnaryOperator<String> mask, StringBuilder json) {
        if (json.length() > MAX_LENGTH) {
            return;
        }
        switch (value.getValueCase()) {
            case ARRAY_VALUE -> appendArray(value.getArrayValue().getValuesList(), mask, json);
            case KVLIST_VALUE -> appendObject(value.getKvlistValue().getValuesList(), mask, json);
            case STRING_VALUE -> quote(mask.apply(cut(value.getStringValue())), json);
            case BYTES_VALUE -> quote(base64(value.getBytesValue()), json);
            case VALUE_NOT_SET -> json.append("null");
            default -> json.append(of(value, mask));
        }
    }

    private static void appendArray(List<AnyValue> values, UnaryOperator<String> mask, StringBuilder json) {
        json.append('[');
        String comma = "";
        for (AnyValue value : values) {
            json.append(comma);
            append(value, mask, json);
            comma = ",";
        }
        json.append(']');
    }

    private static void appendObject(List<KeyValue> pairs, UnaryOperator<String> mask, StringBuilder json) {
        json.append('{');
        String comma = "";
        for (KeyValue pair : pairs) {
            json.append(comma);
            quote(mask.apply(cut(pair.getKey())), json);
            json.append(':');
            append(pair.getValue(), mask, json);
            comma = ",";
        }
        json.append('}');
    }

    private static void quote(String text, StringBuilder json) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < FIRST_PRINTABLE) {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
