package io.tailrace.detection.stored;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.DatabaseEventMapper;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.EventId;
import io.tailrace.event.QueryEvent;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificRecordBase;

/**
 * Decodes rows of a table in RowBinary into the events that rules see, with the code that maps events of the stream. A
 * field whose columns are not among those of the rows is absent or has no meaning. Not thread-safe.
 */
public final class StoredEventDecoder {

    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final int NANOS_PER_MICRO = 1000;

    @FunctionalInterface
    private interface ValueReader {
        Object read(RowBinaryInput in) throws IOException;
    }

    private final StoredTable table;
    private final RowBinaryInput in;
    private final BiFunction<Long, String, String> statements;
    private final ValueReader[] readers;
    private final int[] positions;
    /** Filled again with each row: the mapping copies its values. */
    private final SpecificRecordBase row;

    private long rows;
    private long statementsMissing;

    /**
     * @param in rows in RowBinary
     * @param columns of the rows, in their order
     * @param statements returns the fingerprint of a query id and a rule set; null if it is not stored
     */
    public StoredEventDecoder(
            StoredTable table, List<String> columns, InputStream in, BiFunction<Long, String, String> statements) {
        this.table = table;
        this.in = new RowBinaryInput(in);
        this.statements = statements;
        List<Schema.Field> fields =
                columns.stream().map(table.schema()::getField).toList();
        readers = fields.stream().map(field -> reader(field.schema())).toArray(ValueReader[]::new);
        positions = fields.stream().mapToInt(Schema.Field::pos).toArray();
        row = table.newRecord();
        table.schema().getFields().forEach(field -> row.put(field.pos(), unknown(field.schema())));
    }

    /** Returns the next event; null after the last one. Throws IOException if the rows end within one. */
    public DetectionEvent next() throws IOException {
        if (in.isAtEnd()) {
            return null;
        }
        for (int i = 0; i < readers.length; i++) {
            row.put(positions[i], readers[i].read(in));
        }
        rows++;
        return event();
    }

    /** Returns the value of a column in the last row; null if it is null. */
    public Object value(String column) {
        return row.get(column);
    }

    /** Returns the number of decoded rows. */
    public long rows() {
        return rows;
    }

    /** Returns the number of rows with a statement whose text is not stored, or may not be read. */
    public long statementsMissing() {
        return statementsMissing;
    }

    private DetectionEvent event() {
        return switch (table) {
            case QUERY_EVENTS -> {
                QueryEvent event = (QueryEvent) row;
                yield DatabaseEventMapper.of(event, statement(event.getQueryId(), event.getRuleSet()));
            }
            case AUDIT_EVENTS -> {
                AuditEvent event = (AuditEvent) row;
                yield DatabaseEventMapper.of(event, statement(event.getQueryId(), event.getRuleSet()));
            }
            case ERROR_EVENTS -> DatabaseEventMapper.of((ErrorEvent) row);
        };
    }

    private String statement(Long queryId, String ruleSet) {
        if (queryId == null || ruleSet.isEmpty()) {
            return "";
        }
        String statement = statements.apply(queryId, ruleSet);
        statementsMissing += statement == null ? 1 : 0;
        return statement == null ? "" : statement;
    }

    private static Object unknown(Schema schema) {
        return switch (schema.getType()) {
            case LONG -> isTime(schema) ? Instant.EPOCH : (Object) 0L;
            case INT -> 0;
            case DOUBLE -> 0.0;
            case STRING -> "";
            case FIXED -> new EventId(new byte[2 * Long.BYTES]);
            case ARRAY -> List.of();
            case MAP -> Map.of();
            case UNION -> null;
            default -> throw unexpected(schema);
        };
    }

    private static ValueReader reader(Schema schema) {
        return switch (schema.getType()) {
            case LONG -> isTime(schema) ? in -> time(in.readLong()) : RowBinaryInput::readLong;
            case INT -> RowBinaryInput::readInt;
            case DOUBLE -> RowBinaryInput::readDouble;
            case STRING -> RowBinaryInput::readText;
            case FIXED -> in -> new EventId(ByteBuffer.allocate(2 * Long.BYTES)
                    .putLong(in.readLong())
                    .putLong(in.readLong())
                    .array());
            case ARRAY -> StoredEventDecoder::texts;
            case MAP -> StoredEventDecoder::textMap;
            case UNION -> nullable(schema);
            default -> throw unexpected(schema);
        };
    }

    private static IllegalArgumentException unexpected(Schema schema) {
        return new IllegalArgumentException("no stored type for " + schema);
    }

    private static boolean isTime(Schema schema) {
        return schema.getLogicalType() instanceof LogicalTypes.TimestampMicros;
    }

    private static ValueReader nullable(Schema union) {
        List<Schema> branches = union.getTypes();
        ValueReader inner = reader(branches.get(branches.get(0).getType() == Schema.Type.NULL ? 1 : 0));
        return in -> in.readByte() == 1 ? null : inner.read(in);
    }

    private static Instant time(long micros) {
        return Instant.ofEpochSecond(
                Math.floorDiv(micros, MICROS_PER_SECOND), Math.floorMod(micros, MICROS_PER_SECOND) * NANOS_PER_MICRO);
    }

    private static List<String> texts(RowBinaryInput in) throws IOException {
        int length = in.readLength();
        if (length == 0) {
            return List.of();
        }
        List<String> texts = new ArrayList<>(length);
        for (int i = 0; i < length; i++) {
            texts.add(in.readText());
        }
        return texts;
    }

    private static Map<String, String> textMap(RowBinaryInput in) throws IOException {
        int length = in.readLength();
        if (length == 0) {
            return Map.of();
        }
        Map<String, String> texts = new LinkedHashMap<>();
        for (int i = 0; i < length; i++) {
            String name = in.readText();
            texts.put(name, in.readText());
        }
        return texts;
    }
}
