package io.tailrace.json;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;

/**
 * Writes an Avro record as one line of JSON: fields in the order of the schema, map keys sorted, times as ISO 8601 in
 * UTC, 16-byte ids as UUIDs, and {@code query_id} as 16 hexadecimal digits. Fields that exist only in topics, such as
 * the text of a fingerprint, are omitted because the tables have no columns for them.
 */
public final class AvroJsonWriter {

    private static final String QUERY_ID = "query_id";
    /** The value in the schema that marks a field without a column. */
    private static final String ONLY_IN_TOPICS = "none";

    private static final int UUID_BYTES = 16;

    private final StringBuilder out = new StringBuilder(1024);

    /** Returns the record as one line, without a line feed. */
    public String write(IndexedRecord record) {
        out.setLength(0);
        record(record);
        return out.toString();
    }

    private void record(IndexedRecord record) {
        out.append('{');
        for (Schema.Field field : record.getSchema().getFields()) {
            if (ONLY_IN_TOPICS.equals(field.getObjectProp("clickhouse"))) {
                continue;
            }
            separator('{');
            string(field.name());
            out.append(':');
            Object value = record.get(field.pos());
            if (value instanceof Long id && QUERY_ID.equals(field.name())) {
                string(String.format("%016X", id));
            } else {
                value(value);
            }
        }
        out.append('}');
    }

    private void separator(char opening) {
        if (out.charAt(out.length() - 1) != opening) {
            out.append(',');
        }
    }

    private void value(Object value) {
        if (value == null || value instanceof Boolean || value instanceof Number) {
            out.append(value);
        } else if (value instanceof GenericFixed fixed) {
            string(hex(fixed.bytes()));
        } else if (value instanceof ByteBuffer bytes) {
            string(StandardCharsets.ISO_8859_1.decode(bytes.duplicate()).toString());
        } else if (value instanceof IndexedRecord nested) {
            record(nested);
        } else if (value instanceof Map<?, ?> map) {
            map(map);
        } else if (value instanceof Collection<?> items) {
            items(items);
        } else {
            string(value instanceof Instant time ? time.toString() : value.toString());
        }
    }

    private void map(Map<?, ?> map) {
        out.append('{');
        for (Map.Entry<?, ?> entry : new TreeMap<>(map).entrySet()) {
            separator('{');
            string(entry.getKey().toString());
            out.append(':');
            value(entry.getValue());
        }
        out.append('}');
    }

    private void items(Collection<?> items) {
        out.append('[');
        for (Object item : items) {
            separator('[');
            value(item);
        }
        out.append(']');
    }

    private static String hex(byte[] bytes) {
        String hex = HexFormat.of().formatHex(bytes);
        return bytes.length != UUID_BYTES
                ? hex
                : hex.substring(0, 8)
                        + '-'
                        + hex.substring(8, 12)
                        + '-'
                        + hex.substring(12, 16)
                        + '-'
                        + hex.substring(16, 20)
                        + '-'
                        + hex.substring(20);
    }

    private void string(String text) {
        quote(text, out);
    }

    /** Appends a text as a JSON string. */
    public static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ' || c == 0x7f) {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
