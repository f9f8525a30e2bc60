package io.tailrace.detect;

import io.tailrace.detect.WriterSchemas.Written;
import io.tailrace.detection.action.Sighting;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.DatabaseEvents;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.QueryEvent;
import io.tailrace.reassembly.LogId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificRecord;

/** Reads events and postings of the topic, whichever released schema they were written with. Not thread-safe. */
final class EventReader {

    private static final short SINGLE_OBJECT = (short) 0xC301;
    private static final int HEADER_BYTES = Short.BYTES + Long.BYTES;
    private static final String BACKFILLED = "backfilled";

    private final WriterSchemas schemas = new WriterSchemas();
    private final Map<Long, DatumReader<SpecificRecord>> readers = new HashMap<>();
    private BinaryDecoder decoder;

    /** Finds out where an event or posting belongs. Throws IOException if the bytes are neither. */
    EventMessage place(byte[] message) throws IOException {
        SpecificRecord record = decode(message);
        try {
            return record instanceof LedgerEntry posting
                    ? place(posting, message)
                    : place(record, event(record), message);
        } catch (RuntimeException e) {
            throw broken(e);
        }
    }

    private static EventMessage place(SpecificRecord record, DetectionEvent event, byte[] message) {
        LogId log = new LogId(text(record, "instance"), text(record, "source"), text(record, "log"));
        return new EventMessage(
                log.toKey(),
                number(record, "generation"),
                number(record, "entry_offset"),
                number(record, "entry_bytes"),
                log.instance(),
                Sighting.of(event).map(Sighting::session).orElse(log.toKey()),
                event.micros(),
                ((List<?>) field(record, "flags")).contains(BACKFILLED),
                false,
                message);
    }

    private static EventMessage place(LedgerEntry posting, byte[] message) {
        LogId log = new LogId(posting.getInstance(), posting.getSource(), posting.getLog());
        return new EventMessage(
                log.toKey(),
                posting.getGeneration(),
                posting.getFromOffset(),
                posting.getToOffset() - posting.getFromOffset(),
                log.instance(),
                log.toKey(),
                ChronoUnit.MICROS.between(Instant.EPOCH, posting.getAt()),
                false,
                true,
                message);
    }

    private static Object field(SpecificRecord record, String name) {
        return record.get(record.getSchema().getField(name).pos());
    }

    private static String text(SpecificRecord record, String name) {
        return (String) field(record, name);
    }

    private static long number(SpecificRecord record, String name) {
        return (Long) field(record, name);
    }

    /** Reads an event. Throws IOException if the bytes are none. */
    DetectionEvent event(byte[] message) throws IOException {
        return event(decode(message));
    }

    /** Reads a posting. Throws IOException if the bytes are none. */
    LedgerEntry posting(byte[] message) throws IOException {
        if (decode(message) instanceof LedgerEntry posting) {
            return posting;
        }
        throw new IOException("expected a posting of the ledger, found an event");
    }

    private static DetectionEvent event(SpecificRecord record) {
        if (record instanceof QueryEvent query) {
            return DatabaseEvents.of(query, query.getFingerprint());
        }
        if (record instanceof AuditEvent audit) {
            return DatabaseEvents.of(audit, audit.getFingerprint());
        }
        return DatabaseEvents.of((ErrorEvent) record);
    }

    /** Bytes of a broken record may say anything: lengths beyond the end, branches that are none. */
    private SpecificRecord decode(byte[] message) throws IOException {
        DatumReader<SpecificRecord> reader = reader(message);
        decoder = DecoderFactory.get().binaryDecoder(message, HEADER_BYTES, message.length - HEADER_BYTES, decoder);
        try {
            return reader.read(null, decoder);
        } catch (RuntimeException e) {
            throw broken(e);
        }
    }

    private static IOException broken(RuntimeException cause) {
        return new IOException("this is no event: " + cause.getMessage(), cause);
    }

    private DatumReader<SpecificRecord> reader(byte[] message) throws IOException {
        if (message == null
                || message.length < HEADER_BYTES
                || ByteBuffer.wrap(message).getShort() != SINGLE_OBJECT) {
            throw new IOException("expected Avro's single-object encoding");
        }
        long fingerprint =
                ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).getLong(Short.BYTES);
        DatumReader<SpecificRecord> known = readers.get(fingerprint);
        return known == null ? newReader(fingerprint) : known;
    }

    private DatumReader<SpecificRecord> newReader(long fingerprint) throws IOException {
        Written written = schemas.of(fingerprint)
                .orElseThrow(() ->
                        new IOException("no released schema has the fingerprint " + Long.toHexString(fingerprint)));
        SpecificData model = SpecificData.getForClass(written.recordClass());
        DatumReader<SpecificRecord> made =
                new SpecificDatumReader<>(written.schema(), model.getSchema(written.recordClass()), model);
        readers.put(fingerprint, made);
        return made;
    }
}
