package io.tailrace.detection.alert;

import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Selects the fields of an event that an alert contains. */
public final class AlertContext {

    public static final String CLUSTER = DatabaseField.CLUSTER.fieldName();
    public static final String INSTANCE = DatabaseField.INSTANCE.fieldName();
    public static final String USER = DatabaseField.USER.fieldName();
    public static final String SRC_IP = DatabaseField.SRC_IP.fieldName();
    public static final String HOST = DatabaseField.HOST.fieldName();
    public static final String DATABASE = DatabaseField.DATABASE.fieldName();
    public static final String PROGRAM = DatabaseField.PROGRAM.fieldName();

    /** The names of the selected fields. */
    public static final List<String> FIELDS = List.of(CLUSTER, INSTANCE, USER, SRC_IP, HOST, DATABASE, PROGRAM);

    private AlertContext() {}

    /** Returns the fields of an event. */
    public static Map<String, String> of(DetectionEvent event) {
        Map<String, String> context = new HashMap<>();
        for (String field : FIELDS) {
            List<FieldValue> values = event.values(field);
            if (!values.isEmpty()) {
                context.put(field, values.get(0).text());
            }
        }
        return context;
    }

    /** Returns the entity of a rule over single events, which defines none: user, client and server. */
    public static Map<String, String> entity(Map<String, String> context) {
        Map<String, String> entity = new LinkedHashMap<>();
        String from = context.containsKey(SRC_IP) ? SRC_IP : HOST;
        for (String field : List.of(INSTANCE, USER, from)) {
            if (context.containsKey(field)) {
                entity.put(field, context.get(field));
            }
        }
        return entity;
    }
}
