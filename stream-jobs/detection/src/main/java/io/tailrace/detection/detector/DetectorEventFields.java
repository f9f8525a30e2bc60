package io.tailrace.detection.detector;

import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.List;
import java.util.Set;

/** What detectors ask of database events. */
public final class DetectorEventFields {

    private static final String CONNECTION = "connection";
    /** How logs name the end of a session. MariaDB writes one after a refused login, too. */
    private static final Set<String> ENDS = Set.of("disconnect", "quit");

    private DetectorEventFields() {}

    /** The first value of a field, bounded; empty where it is absent. */
    public static String text(DetectionEvent event, String field) {
        List<FieldValue> values = event.values(field);
        return values.isEmpty() ? "" : BoundedText.of(values.get(0).text());
    }

    /** The statement without its literals and the marks of version comments, whole; empty where there is none. */
    public static String statement(DetectionEvent event) {
        List<FieldValue> values = event.values("statement");
        return values.isEmpty() ? "" : values.get(values.size() - 1).text();
    }

    /** The first value of a field as a number; NaN where it is absent or none. */
    public static double number(DetectionEvent event, String field) {
        List<FieldValue> values = event.values(field);
        return values.isEmpty() ? Double.NaN : values.get(0).number();
    }

    /** Where accounts are the same: the cluster, or the instance that is in none. */
    public static String cluster(DetectionEvent event) {
        return text(event, "cluster");
    }

    /** The instance where it is in no cluster; else empty, so that replicas share what is known. */
    public static String instanceAlone(DetectionEvent event) {
        return event.values("cluster").isEmpty() ? text(event, "instance") : "";
    }

    /** Whether the event shows that its user is in: a login that succeeded, or anything after it. */
    public static boolean isActivity(DetectionEvent event) {
        return switch (text(event, "event_class")) {
            case CONNECTION -> "success".equals(text(event, "outcome")) && !isEnd(event);
            case "query", "table" -> true;
            default -> false;
        };
    }

    private static boolean isEnd(DetectionEvent event) {
        return event.values("command").stream().anyMatch(command -> ENDS.contains(command.folded()));
    }

    /** Whether the event is a statement, told once: filter logs record a statement in several events. */
    public static boolean isStatement(DetectionEvent event) {
        String name = text(event, "event_name");
        return "query".equals(text(event, "event_class")) && (name.isEmpty() || "status".equals(name));
    }

    public static boolean hasFailed(DetectionEvent event) {
        return "failure".equals(text(event, "outcome"));
    }
}
