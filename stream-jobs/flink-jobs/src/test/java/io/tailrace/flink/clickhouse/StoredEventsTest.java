package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.stored.StoredEventDecoder;
import io.tailrace.detection.stored.StoredFields;
import io.tailrace.detection.stored.StoredTable;
import io.tailrace.detection.taxonomy.DatabaseEventMapper;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.EventId;
import io.tailrace.event.QueryEvent;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificRecordBase;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the sink stores of an event is, decoded again, the event that rules saw on the stream. */
class StoredEventsTest {

    private static final int CASES = 300;
    private static final List<String> TEXTS = List.of(
            "",
            "connection",
            "query",
            "table",
            "access_denied",
            "Connect",
            "FAILED_CONNECT",
            "status",
            "status_unknown",
            "logged_in",
            "truncated",
            "shop",
            "shop.orders",
            "10.0.0.9",
            "::ffff:10.0.0.7",
            "Zoë \ud83d\ude00 \"quoted\"\n",
            "a text that is longer than the texts that the decoder keeps, and longer than a byte of length: "
                    .repeat(3));
    private static final List<String> FINGERPRINTS = List.of(
            "select ? from t",
            "set statement max_statement_time=? for select ?",
            "/*!? sleep */(?)",
            "grant all on *.* to ?");

    @ParameterizedTest
    @EnumSource(StoredTable.class)
    void everyStoredFieldIsThatOfTheStream(StoredTable table) throws IOException {
        Random random = new Random(21);
        for (int i = 0; i < CASES; i++) {
            SpecificRecordBase event = random(table, random);
            Map<String, List<String>> expected = fields(ofStream(event));
            StoredFields.unstoredFields().forEach(expected::remove);
            assertThat(fields(decoded(table, event, table.columns())))
                    .as("case %d", i)
                    .isEqualTo(expected);
        }
    }

    /** A rule reads only the columns of its fields. */
    @ParameterizedTest
    @EnumSource(StoredTable.class)
    void everyFieldNeedsOnlyItsColumns(StoredTable table) throws IOException {
        Random random = new Random(22);
        for (int i = 0; i < CASES / 10; i++) {
            SpecificRecordBase event = random(table, random);
            Map<String, List<String>> expected = fields(ofStream(event));
            List<String> names = new ArrayList<>(expected.keySet());
            for (DatabaseField field : DatabaseField.values()) {
                names.add(field.fieldName());
            }
            names.removeAll(StoredFields.unstoredFields());
            for (String name : names) {
                DetectionEvent found = decoded(table, event, table.columns(Set.of(name)));
                assertThat(fields(found).get(name)).as("case %d, %s", i, name).isEqualTo(expected.get(name));
            }
        }
    }

    private static DetectionEvent ofStream(SpecificRecordBase event) {
        if (event instanceof QueryEvent query) {
            return DatabaseEventMapper.of(query, query.getFingerprint());
        }
        return event instanceof AuditEvent audit
                ? DatabaseEventMapper.of(audit, audit.getFingerprint())
                : DatabaseEventMapper.of((ErrorEvent) event);
    }

    private static DetectionEvent decoded(StoredTable table, SpecificRecordBase event, List<String> columns)
            throws IOException {
        StoredEventDecoder decoder = new StoredEventDecoder(
                table, columns, new ByteArrayInputStream(row(table, event, columns)), (queryId, ruleSet) ->
                        (String) event.get("fingerprint"));
        DetectionEvent found = decoder.next();
        assertThat(decoder.next()).isNull();
        assertThat(decoder.rows()).isEqualTo(1);
        return found;
    }

    /** Returns the bytes that the sink writes for the columns. */
    private static byte[] row(StoredTable table, SpecificRecordBase event, List<String> columns) {
        Schema schema = table.schema();
        Schema part = Schema.createRecord(schema.getName(), null, "part", false);
        part.setFields(columns.stream()
                .map(schema::getField)
                .map(field -> new Schema.Field(field, field.schema()))
                .toList());
        org.apache.avro.generic.GenericData.Record row = new org.apache.avro.generic.GenericData.Record(part);
        columns.forEach(column -> row.put(column, event.get(column)));
        RowBinaryBuffer out = new RowBinaryBuffer(1);
        RowBinaryEncoder.atOnce(table.table(), part).encode(row, out);
        return out.toByteArray();
    }

    private static Map<String, List<String>> fields(DetectionEvent event) {
        Map<String, List<String>> fields = new TreeMap<>();
        event.fields()
                .forEach((name, values) ->
                        fields.put(name, values.stream().map(FieldValue::text).collect(Collectors.toList())));
        fields.put("id, time, order, source", List.of(event.id() + event.micros() + event.order() + event.source()));
        return fields;
    }

    private static SpecificRecordBase random(StoredTable table, Random random) {
        SpecificRecordBase event =
                switch (table) {
                    case QUERY_EVENTS -> new QueryEvent();
                    case AUDIT_EVENTS -> new AuditEvent();
                    case ERROR_EVENTS -> new ErrorEvent();
                };
        event.getSchema().getFields().forEach(field -> event.put(field.pos(), value(field.schema(), random)));
        if (table.hasStatements()) {
            boolean has = event.get("query_id") != null;
            event.put("rule_set", has ? "tailrace-1" : "");
            event.put("fingerprint", has ? FINGERPRINTS.get(random.nextInt(FINGERPRINTS.size())) : "");
        }
        event.put("source", table.services().get(random.nextInt(table.services().size())));
        return event;
    }

    private static Object value(Schema schema, Random random) {
        return switch (schema.getType()) {
            case LONG -> schema.getLogicalType() instanceof LogicalTypes.TimestampMicros
                    ? Instant.ofEpochSecond(random.nextInt(), 1000L * random.nextInt(1_000_000))
                    : (Object) (random.nextBoolean() ? 0 : random.nextLong() >> random.nextInt(64));
            case INT -> random.nextBoolean() ? 0 : random.nextInt();
            case DOUBLE -> random.nextDouble() * random.nextInt(1000);
            case STRING -> text(random);
            case FIXED -> new EventId(bytes(random));
            case ARRAY -> random.ints(random.nextInt(3), 0, TEXTS.size())
                    .mapToObj(TEXTS::get)
                    .toList();
            case MAP -> map(random);
            case UNION -> random.nextBoolean() ? null : value(schema.getTypes().get(1), random);
            default -> throw new AssertionError(schema);
        };
    }

    private static byte[] bytes(Random random) {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        return bytes;
    }

    private static Map<String, String> map(Random random) {
        Map<String, String> map = new HashMap<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            map.put(text(random), text(random));
        }
        return map;
    }

    private static String text(Random random) {
        return TEXTS.get(random.nextInt(TEXTS.size()));
    }
}
