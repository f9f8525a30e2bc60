package io.tailrace.detection.dataclass;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.event.DataAccess;
import io.tailrace.event.EventId;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Creates data access records from events that {@link DataClassifier} enriched. */
public final class DataAccessFactory {

    private DataAccessFactory() {}

    /** Returns the data access of an event; empty if it touches no class and all of its tables are known. */
    public static Optional<DataAccess> of(DetectionEvent event) {
        return event.values(DatabaseField.DATA_ACCESS.fieldName()).isEmpty()
                ? Optional.empty()
                : Optional.of(access(event));
    }

    private static DataAccess access(DetectionEvent event) {
        DataAccess access = new DataAccess();
        access.setEventId(eventId(event.id()));
        access.setActionId(event.actionId());
        access.setEventTime(Instant.EPOCH.plus(event.micros(), ChronoUnit.MICROS));
        access.setCluster(text(event, DatabaseField.CLUSTER));
        access.setInstance(text(event, DatabaseField.INSTANCE));
        access.setSource(event.source().service());
        access.setUser(text(event, DatabaseField.USER));
        access.setHost(text(event, DatabaseField.HOST));
        access.setSrcIp(text(event, DatabaseField.SRC_IP));
        access.setProgram(text(event, DatabaseField.PROGRAM));
        access.setDatabase(text(event, DatabaseField.DATABASE));
        access.setVerb(text(event, DatabaseField.VERB));
        String outcome = text(event, DatabaseField.OUTCOME);
        access.setOutcome(outcome.isEmpty() ? "unknown" : outcome);
        numbers(event, access);
        classes(event, access);
        return access;
    }

    private static void numbers(DetectionEvent event, DataAccess access) {
        String connection = text(event, DatabaseField.CONNECTION_ID);
        access.setConnectionId(connection.isEmpty() ? 0 : Long.parseLong(connection));
        String queryId = text(event, DatabaseField.QUERY_ID);
        access.setQueryId(queryId.isEmpty() ? null : Long.parseUnsignedLong(queryId, 16));
        String rows = text(event, DatabaseField.ROWS_SENT);
        access.setRowsSent(rows.isEmpty() ? null : Long.parseLong(rows));
    }

    private static void classes(DetectionEvent event, DataAccess access) {
        List<String> read = texts(event, DatabaseField.DATA_CLASS_READ);
        List<String> written = texts(event, DatabaseField.DATA_CLASS_WRITTEN);
        access.setTables(texts(event, DatabaseField.TABLE));
        access.setDataClass(texts(event, DatabaseField.DATA_CLASS));
        access.setDataClassRead(read);
        access.setDataClassWritten(written);
        access.setBasis(texts(event, DatabaseField.DATA_BASIS));
        access.setMode(mode(!read.isEmpty(), !written.isEmpty()));
    }

    private static String mode(boolean reads, boolean writes) {
        if (reads) {
            return writes ? "both" : "read";
        }
        return writes ? "write" : "unknown";
    }

    private static EventId eventId(String id) {
        UUID uuid = UUID.fromString(id);
        byte[] bytes = new byte[2 * Long.BYTES];
        ByteBuffer.wrap(bytes).putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits());
        return new EventId(bytes);
    }

    private static String text(DetectionEvent event, DatabaseField field) {
        List<FieldValue> values = event.values(field.fieldName());
        return values.isEmpty() ? "" : values.get(0).text();
    }

    private static List<String> texts(DetectionEvent event, DatabaseField field) {
        return event.values(field.fieldName()).stream().map(FieldValue::text).toList();
    }
}
