package io.tailrace.flink.detection.events;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.SignedRange;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.specific.SpecificRecord;

/** Contains every possible writer schema of the topic: all released ones, and the current ones. */
final class WriterSchemaRegistry {

    /**
     * A writer schema and the class of its records.
     *
     * @param recordClass class into which records are decoded
     */
    record Written(Schema schema, Class<? extends SpecificRecord> recordClass) {}

    private static final List<Class<? extends SpecificRecord>> EVENTS =
            List.of(QueryEvent.class, AuditEvent.class, ErrorEvent.class, LedgerEntry.class, SignedRange.class);

    private final Map<Long, Written> byFingerprint = new HashMap<>();

    WriterSchemaRegistry() {
        for (int version = 1; resource(version, "EventId").isPresent(); version++) {
            addReleased(version);
        }
        add(QueryEvent.getClassSchema(), QueryEvent.class);
        add(AuditEvent.getClassSchema(), AuditEvent.class);
        add(ErrorEvent.getClassSchema(), ErrorEvent.class);
        add(LedgerEntry.getClassSchema(), LedgerEntry.class);
        add(SignedRange.getClassSchema(), SignedRange.class);
    }

    private void addReleased(int version) {
        Schema.Parser parser = new Schema.Parser();
        parser.parse(resource(version, "EventId").orElseThrow());
        // Postings refer to the stages that this schema defines.
        resource(version, "DeadLetter").ifPresent(parser::parse);
        for (Class<? extends SpecificRecord> event : EVENTS) {
            resource(version, event.getSimpleName()).ifPresent(text -> add(parser.parse(text), event));
        }
    }

    private void add(Schema schema, Class<? extends SpecificRecord> event) {
        byFingerprint.put(SchemaNormalization.parsingFingerprint64(schema), new Written(schema, event));
    }

    private static Optional<String> resource(int version, String record) {
        String name = "/schemas/history/v" + version + '/' + record + ".avsc";
        try (InputStream in = WriterSchemaRegistry.class.getResourceAsStream(name)) {
            return in == null
                    ? Optional.empty()
                    : Optional.of(new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @param fingerprint CRC-64-AVRO of the schema's parsing canonical form */
    Optional<Written> of(long fingerprint) {
        return Optional.ofNullable(byFingerprint.get(fingerprint));
    }
}
