package io.tailrace.flink.detection.events;

import io.tailrace.detect.PlanSighting;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.DatabaseEventMapper;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.SignedRange;
import io.tailrace.flink.detection.events.WriterSchemaRegistry.Written;
import io.tailrace.reassembly.LogId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificRecord;

/**
 * Decodes events and postings of the topic, for every released writer schema. Not thread-safe.
 *
 * <p>The routing of an event needs only a few of its fields, so the others are skipped.
 */
public final class EventDecoder {

    private static final short SINGLE_OBJECT = (short) 0xC301;
    private static final int HEADER_BYTES = Short.BYTES + Long.BYTES;

    private final WriterSchemaRegistry schemas = new WriterSchemaRegistry();
    private final Map<Long, DatumReader<SpecificRecord>> readers = new HashMap<>();
    private final Map<Long, DatumReader<GenericRecord>> placeReaders = new HashMap<>();
    private BinaryDecoder decoder;

    /** Reads the routing fields of an event or posting. Throws IOException if the bytes are neither. */
    public EventRecord place(byte[] message) throws IOException {
        Written written = written(message);
        if (written.recordClass() == LedgerEntry.class) {
            return place((LedgerEntry) posting(message), message);
        }
        if (written.recordClass() == SignedRange.class) {
            return place((SignedRange) posting(message), message);
        }
        return read(
                placeReader(written, message),
                message,
                place -> EventHeaderReader.of(place, written.recordClass(), message));
    }

    /** Reads the execution of a statement with its plan. Throws IOException if the bytes are not an event. */
    PlanSighting execution(byte[] message) throws IOException {
        return read(placeReader(written(message), message), message, EventHeaderReader::execution);
    }

    private DatumReader<GenericRecord> placeReader(Written written, byte[] message) throws IOException {
        return placeReaders.computeIfAbsent(
                fingerprint(message),
                fingerprint -> new GenericDatumReader<>(
                        written.schema(), EventHeaderReader.schema(written.recordClass()), EventHeaderReader.MODEL));
    }

    private static EventRecord place(LedgerEntry posting, byte[] message) {
        LogId log = new LogId(posting.getInstance(), posting.getSource(), posting.getLog());
        return posting(
                log, posting.getGeneration(), posting.getFromOffset(), posting.getToOffset(), posting.getAt(), message);
    }

    private static EventRecord place(SignedRange range, byte[] message) {
        LogId log = new LogId(range.getInstance(), range.getSource(), range.getLog());
        return posting(
                log, range.getGeneration(), range.getFromOffset(), range.getToOffset(), range.getVerifiedAt(), message);
    }

    private static EventRecord posting(LogId log, long generation, long from, long to, Instant at, byte[] message) {
        return EventRecord.of(log, message)
                .range(generation, from, to - from)
                .at(ChronoUnit.MICROS.between(Instant.EPOCH, at))
                .posting()
                .build();
    }

    /** Reads an event. Throws IOException if the bytes are not one. */
    public DetectionEvent event(byte[] message) throws IOException {
        return read(reader(message), message, EventDecoder::event);
    }

    /** Reads a posting or a signed range. Throws IOException if the bytes are neither. */
    public SpecificRecord posting(byte[] message) throws IOException {
        SpecificRecord record = read(reader(message), message, read -> read);
        if (record instanceof LedgerEntry || record instanceof SignedRange) {
            return record;
        }
        throw new IOException("expected a posting of the ledger or a signed range, found an event");
    }

    private static DetectionEvent event(SpecificRecord record) {
        if (record instanceof QueryEvent query) {
            return DatabaseEventMapper.of(query, query.getFingerprint());
        }
        if (record instanceof AuditEvent audit) {
            return DatabaseEventMapper.of(audit, audit.getFingerprint());
        }
        return DatabaseEventMapper.of((ErrorEvent) record);
    }

    /** A corrupt record may contain any bytes, such as lengths beyond the end and invalid branches. */
    private <R, T> T read(DatumReader<R> reader, byte[] message, Function<R, T> made) throws IOException {
        decoder = DecoderFactory.get().binaryDecoder(message, HEADER_BYTES, message.length - HEADER_BYTES, decoder);
        try {
            return made.apply(reader.read(null, decoder));
        } catch (RuntimeException e) {
            throw new IOException("not a valid event: " + e.getMessage(), e);
        }
    }

    private static long fingerprint(byte[] message) throws IOException {
        if (message == null
                || message.length < HEADER_BYTES
                || ByteBuffer.wrap(message).getShort() != SINGLE_OBJECT) {
            throw new IOException("expected Avro's single-object encoding");
        }
        return ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).getLong(Short.BYTES);
    }

    private Written written(byte[] message) throws IOException {
        long fingerprint = fingerprint(message);
        return schemas.of(fingerprint)
                .orElseThrow(() ->
                        new IOException("no released schema has the fingerprint " + Long.toHexString(fingerprint)));
    }

    private DatumReader<SpecificRecord> reader(byte[] message) throws IOException {
        Written written = written(message);
        return readers.computeIfAbsent(fingerprint(message), fingerprint -> {
            SpecificData model = SpecificData.getForClass(written.recordClass());
            // Avro's default reader looks up each field in its schema again.
            model.setFastReaderEnabled(true);
            return new SpecificDatumReader<>(written.schema(), model.getSchema(written.recordClass()), model);
        });
    }
}
