package io.tailrace.flink.clickhouse;

import io.tailrace.flink.clickhouse.RowLayout.Column;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;

/**
 * Encodes records of one Avro schema as RowBinary: one column per field, with the name of the field, and {@code
 * after_checkpoint}. The schema is traversed once, at construction. A field whose property {@code clickhouse} is {@code
 * none} has no column; one with the property {@code column} has a column of that name.
 *
 * <p>long → Int64, int → Int32 (or the type in the field's property {@code clickhouse}), double → Float64, boolean →
 * Bool, string, enum and bytes → String, fixed(16) → UUID, timestamp-micros → DateTime64(6, 'UTC'), union with null →
 * Nullable, array and map of strings → Array(String) and Map(String, String), array of such maps → Array(Map(String,
 * String)). Nanoseconds since 1970 are longs whose property {@code clickhouse} is {@value #NANO_TIME}, or arrays of
 * them; an array of ids has the property {@value #IDS}.
 */
final class RowBinaryEncoder {

    static final String AFTER_CHECKPOINT = "after_checkpoint";
    static final Replacement UNCHANGED = field -> null;
    static final String DATE_TIME = "DateTime64(6, 'UTC')";
    static final String STRING_MAP = "Map(String, String)";
    static final String STRING_MAPS = "Array(" + STRING_MAP + ")";
    static final String NANO_TIME = "DateTime64(9, 'UTC')";
    static final String NANO_TIMES = "Array(" + NANO_TIME + ")";
    static final String IDS = "Array(UInt64)";

    private static final long NANOS_PER_DAY = 86_400_000_000_000L;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final int NANOS_PER_MICRO = 1000;
    private static final int SECONDS_PER_DAY = 86_400;

    /** Replaces values of fields before they are encoded. */
    @FunctionalInterface
    interface Replacement {
        /** Returns what replaces the values of a field; null if they are encoded as they are. */
        UnaryOperator<Object> of(String field);
    }

    @FunctionalInterface
    private interface ValueEncoder {
        void encode(Object value, RowBinaryBuffer out);
    }

    private record Encoding(String type, ValueEncoder encoder) {}

    private static final String PROPERTY = "clickhouse";
    private static final String NAME = "column";
    private static final String NO_COLUMN = "none";

    private final RowLayout layout;
    private final ValueEncoder[] encoders;
    /** Indexes of the record fields, by encoder. */
    private final int[] fields;

    private final int timeField;

    /**
     * Creates an encoder for rows that are inserted with their checkpoint.
     *
     * @param table name with its database
     * @throws IllegalArgumentException if a field has a type without a mapping, or if no field is a time: tables are
     *     partitioned by the first one that is
     */
    RowBinaryEncoder(String table, Schema schema) {
        this(table, schema, UNCHANGED);
    }

    /** Creates an encoder as the first one, for rows with replaced values. */
    RowBinaryEncoder(String table, Schema schema, Replacement replacement) {
        this(table, schema, replacement, List.of(new Column(AFTER_CHECKPOINT, "UInt64")));
    }

    private RowBinaryEncoder(String table, Schema schema, Replacement replacement, List<Column> afterFields) {
        List<Column> columns = new ArrayList<>();
        List<ValueEncoder> compiled = new ArrayList<>();
        List<Schema.Field> stored =
                schema.getFields().stream().filter(RowBinaryEncoder::hasColumn).toList();
        for (Schema.Field field : stored) {
            Encoding encoding = encodingOf(field);
            columns.add(new Column(columnOf(field), encoding.type()));
            compiled.add(replaced(encoding.encoder(), replacement.of(field.name())));
        }
        columns.addAll(afterFields);
        layout = new RowLayout(table, columns);
        encoders = compiled.toArray(ValueEncoder[]::new);
        fields = stored.stream().mapToInt(Schema.Field::pos).toArray();
        timeField = timeFieldOf(schema);
    }

    /** Creates an encoder for rows that do not wait for a checkpoint: they have no column {@code after_checkpoint}. */
    static RowBinaryEncoder atOnce(String table, Schema schema) {
        return atOnce(table, schema, UNCHANGED);
    }

    /** Creates an encoder as {@link #atOnce(String, Schema)}, for rows with replaced values. */
    static RowBinaryEncoder atOnce(String table, Schema schema, Replacement replacement) {
        return new RowBinaryEncoder(table, schema, replacement, List.of());
    }

    private static ValueEncoder replaced(ValueEncoder encoder, UnaryOperator<Object> replacement) {
        return replacement == null ? encoder : (value, out) -> encoder.encode(replacement.apply(value), out);
    }

    private static boolean hasColumn(Schema.Field field) {
        return !NO_COLUMN.equals(field.getObjectProp(PROPERTY));
    }

    private static String columnOf(Schema.Field field) {
        String name = (String) field.getObjectProp(NAME);
        return name == null ? field.name() : name;
    }

    RowLayout layout() {
        return layout;
    }

    /** Appends one row. */
    void encode(IndexedRecord row, long afterCheckpoint, RowBinaryBuffer out) {
        encode(row, out);
        out.writeLong(afterCheckpoint);
    }

    /** Appends one row of {@link #atOnce}. */
    void encode(IndexedRecord row, RowBinaryBuffer out) {
        for (int i = 0; i < encoders.length; i++) {
            encoders[i].encode(row.get(fields[i]), out);
        }
    }

    /** Returns the UTC day of the row's time, in days since 1970-01-01: the row's partition. */
    int day(IndexedRecord row) {
        Object time = row.get(timeField);
        return time instanceof Long nanos
                ? (int) Math.floorDiv(nanos, NANOS_PER_DAY)
                : (int) Math.floorDiv(((Instant) time).getEpochSecond(), SECONDS_PER_DAY);
    }

    private static int timeFieldOf(Schema schema) {
        return schema.getFields().stream()
                .filter(field -> isTimestamp(field.schema()) || NANO_TIME.equals(field.getObjectProp(PROPERTY)))
                .map(Schema.Field::pos)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        schema.getFullName() + " must have a timestamp-micros or DateTime64(9) field to partition by"));
    }

    private static boolean isTimestamp(Schema schema) {
        LogicalType type = schema.getLogicalType();
        return type instanceof LogicalTypes.TimestampMicros;
    }

    private static Encoding encodingOf(Schema.Field field) {
        String wanted = (String) field.getObjectProp(PROPERTY);
        Encoding encoding = encodingOf(field.schema(), wanted);
        if (encoding == null) {
            throw new IllegalArgumentException(
                    "field " + field.name() + ": no ClickHouse encoding for " + field.schema());
        }
        return encoding;
    }

    private static Encoding encodingOf(Schema schema, String wanted) {
        return switch (schema.getType()) {
            case LONG -> isTimestamp(schema)
                    ? new Encoding(DATE_TIME, RowBinaryEncoder::time)
                    : integer(wanted, "Int64");
            case INT -> integer(wanted, "Int32");
            case DOUBLE -> new Encoding("Float64", (value, out) -> out.writeDouble((Double) value));
            case BOOLEAN -> new Encoding("Bool", (value, out) -> out.writeByte((Boolean) value ? 1 : 0));
            case STRING, ENUM -> new Encoding("String", (value, out) -> out.writeString(value.toString()));
            case BYTES -> new Encoding("String", RowBinaryEncoder::bytes);
            case FIXED -> schema.getFixedSize() == 16 ? new Encoding("UUID", RowBinaryEncoder::uuid) : null;
            case UNION -> nullable(schema, wanted);
            case ARRAY -> array(schema.getElementType(), wanted);
            case MAP -> isStringMap(schema) ? new Encoding(STRING_MAP, RowBinaryEncoder::stringMap) : null;
            default -> null;
        };
    }

    private static Encoding array(Schema element, String wanted) {
        if (isString(element)) {
            return new Encoding("Array(String)", RowBinaryEncoder::strings);
        }
        if (isStringMap(element)) {
            return new Encoding(STRING_MAPS, (value, out) -> items(value, RowBinaryEncoder::stringMap, out));
        }
        boolean longs = element.getType() == Schema.Type.LONG && (NANO_TIMES.equals(wanted) || IDS.equals(wanted));
        return longs
                ? new Encoding(wanted, (value, out) -> items(value, (item, to) -> to.writeLong((Long) item), out))
                : null;
    }

    private static boolean isStringMap(Schema schema) {
        return schema.getType() == Schema.Type.MAP && isString(schema.getValueType());
    }

    private static boolean isString(Schema schema) {
        return schema.getType() == Schema.Type.STRING;
    }

    private static Encoding integer(String wanted, String defaultType) {
        String type = wanted == null ? defaultType : wanted;
        return switch (type) {
            case "Int64", "UInt64", NANO_TIME -> new Encoding(
                    type, (value, out) -> out.writeLong(((Number) value).longValue()));
            case "Int32", "UInt32" -> new Encoding(type, (value, out) -> out.writeInt(((Number) value).intValue()));
            default -> null;
        };
    }

    private static Encoding nullable(Schema union, String wanted) {
        List<Schema> branches = union.getTypes();
        if (branches.size() != 2 || !union.isNullable()) {
            return null;
        }
        Schema other = branches.get(branches.get(0).getType() == Schema.Type.NULL ? 1 : 0);
        Encoding inner = encodingOf(other, wanted);
        return inner == null ? null : new Encoding("Nullable(" + inner.type() + ")", nullable(inner.encoder()));
    }

    private static ValueEncoder nullable(ValueEncoder inner) {
        return (value, out) -> {
            out.writeByte(value == null ? 1 : 0);
            if (value != null) {
                inner.encode(value, out);
            }
        };
    }

    private static void time(Object value, RowBinaryBuffer out) {
        Instant time = (Instant) value;
        out.writeLong(time.getEpochSecond() * MICROS_PER_SECOND + time.getNano() / NANOS_PER_MICRO);
    }

    private static void bytes(Object value, RowBinaryBuffer out) {
        ByteBuffer buffer = ((ByteBuffer) value).duplicate();
        byte[] copy = new byte[buffer.remaining()];
        buffer.get(copy);
        out.writeBytes(copy);
    }

    /** RowBinary represents a UUID as two little-endian 64-bit halves, the high one first. */
    private static void uuid(Object value, RowBinaryBuffer out) {
        ByteBuffer halves = ByteBuffer.wrap(((GenericFixed) value).bytes());
        out.writeLong(halves.getLong());
        out.writeLong(halves.getLong());
    }

    private static void strings(Object value, RowBinaryBuffer out) {
        Collection<?> items = (Collection<?>) value;
        out.writeLength(items.size());
        for (Object item : items) {
            out.writeString(item.toString());
        }
    }

    private static void items(Object value, ValueEncoder encoder, RowBinaryBuffer out) {
        Collection<?> items = (Collection<?>) value;
        out.writeLength(items.size());
        for (Object item : items) {
            encoder.encode(item, out);
        }
    }

    private static void stringMap(Object value, RowBinaryBuffer out) {
        Map<?, ?> map = (Map<?, ?>) value;
        out.writeLength(map.size());
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            out.writeString(entry.getKey().toString());
            out.writeString(entry.getValue().toString());
        }
    }
}
