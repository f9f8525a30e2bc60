package io.tailrace.flink.detection.events;

import io.tailrace.detect.PlanSighting;
import io.tailrace.detection.action.ActionObservation;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.taxonomy.StatusOutcome;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.reassembly.LogId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;

/** Extracts the routing fields of an event: its log, its position in it, its connection. */
final class EventHeaderReader {

    /** Without conversions: times remain microseconds. */
    static final GenericData MODEL = new GenericData();

    private static final List<String> OF_ALL =
            List.of("instance", "source", "log", "generation", "entry_offset", "entry_bytes", "event_time", "flags");
    private static final Map<Class<?>, Schema> SCHEMAS = new HashMap<>();

    static {
        MODEL.setFastReaderEnabled(true);
        addSchema(
                QueryEvent.class,
                "connection_id",
                "query_id",
                "cluster",
                "database",
                "plan_hash",
                "query_time",
                "rows_examined");
        addSchema(
                AuditEvent.class,
                "connection_id",
                "query_id",
                "event_class",
                "command",
                "event_name",
                "status",
                "user");
        addSchema(ErrorEvent.class, "kind", "user");
    }

    private EventHeaderReader() {}

    private static void addSchema(Class<? extends SpecificRecord> event, String... further) {
        Schema whole = SpecificData.get().getSchema(event);
        List<String> names = new ArrayList<>(OF_ALL);
        names.addAll(List.of(further));
        List<Schema.Field> fields = names.stream()
                .map(name -> new Schema.Field(
                        whole.getField(name), whole.getField(name).schema()))
                .toList();
        SCHEMAS.put(event, Schema.createRecord(whole.getName(), "", whole.getNamespace(), false, fields));
    }

    /** Returns the reader schema with the routing fields of an event. */
    static Schema schema(Class<? extends SpecificRecord> event) {
        return SCHEMAS.get(event);
    }

    /** @param place a record of {@link #schema} */
    static EventRecord of(GenericRecord place, Class<? extends SpecificRecord> event, byte[] message) {
        LogId log = new LogId(text(place, "instance"), text(place, "source"), text(place, "log"));
        String session = ActionObservation.of(headerEvent(place, event))
                .map(ActionObservation::session)
                .orElse(null);
        EventRecord.Builder header = EventRecord.of(log, message)
                .range((Long) place.get("generation"), (Long) place.get("entry_offset"), (Long)
                        place.get("entry_bytes"))
                .at((Long) place.get("event_time"))
                .session(session)
                .backfilled(EventFlag.BACKFILLED.isIn((List<?>) place.get("flags")));
        return event == QueryEvent.class ? withExecution(header, place) : header.build();
    }

    private static EventRecord withExecution(EventRecord.Builder header, GenericRecord place) {
        return header.execution((Long) place.get("query_id"), hasPlan(place) ? execution(place) : null)
                .build();
    }

    private static boolean hasPlan(GenericRecord place) {
        return ((CharSequence) place.get("plan_hash")).length() > 0;
    }

    /**
     * Returns the execution of the statement with its plan.
     *
     * @param place of a {@link QueryEvent}
     */
    static PlanSighting execution(GenericRecord place) {
        return new PlanSighting(
                text(place, "cluster"),
                text(place, "instance"),
                text(place, "database"),
                (Long) place.get("query_id"),
                text(place, "plan_hash"),
                (Long) place.get("event_time"),
                (Long) place.get("generation"),
                (Long) place.get("entry_offset"),
                (Double) place.get("query_time"),
                (Long) place.get("rows_examined"));
    }

    /** Returns an event with only the fields that identify its session. */
    private static DetectionEvent headerEvent(GenericRecord place, Class<? extends SpecificRecord> event) {
        LogSource source = new LogSource("database", "mysql", text(place, "source"));
        DetectionEvent.Builder fields = DetectionEvent.builder("", 0, source);
        set(fields, DatabaseField.INSTANCE, text(place, "instance"));
        if (event == ErrorEvent.class) {
            set(fields, DatabaseField.KIND, text(place, "kind"));
            set(fields, DatabaseField.USER, text(place, "user"));
            return fields.build();
        }
        long connection = (Long) place.get("connection_id");
        if (connection != 0) {
            set(fields, DatabaseField.CONNECTION_ID, Long.toString(connection));
        }
        Long queryId = (Long) place.get("query_id");
        if (queryId != null) {
            set(fields, DatabaseField.QUERY_ID, HexFormat.of().toHexDigits(queryId));
        }
        if (event == QueryEvent.class) {
            set(fields, DatabaseField.EVENT_CLASS, "query");
            return fields.build();
        }
        String eventClass = text(place, "event_class");
        String command = text(place, "command");
        String eventName = text(place, "event_name");
        set(fields, DatabaseField.EVENT_CLASS, eventClass);
        set(fields, DatabaseField.COMMAND, command);
        set(fields, DatabaseField.EVENT_NAME, eventName);
        set(fields, DatabaseField.USER, text(place, "user"));
        int status = (Integer) place.get("status");
        List<?> flags = (List<?>) place.get("flags");
        set(fields, DatabaseField.OUTCOME, StatusOutcome.of(eventClass, command, eventName, status, flags));
        return fields.build();
    }

    private static void set(DetectionEvent.Builder fields, DatabaseField field, String text) {
        fields.known(field.fieldName(), text);
    }

    private static String text(GenericRecord place, String field) {
        return place.get(field).toString();
    }
}
