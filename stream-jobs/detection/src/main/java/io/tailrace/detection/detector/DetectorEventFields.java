package io.tailrace.detection.detector;

import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.List;
import java.util.Set;

/** Extracts the values that detectors use from database events. */
public final class DetectorEventFields {

    private static final String CONNECTION = "connection";
    /** Names of the end of a session in logs. MariaDB also writes one after a refused login. */
    private static final Set<String> ENDS = Set.of("disconnect", "quit");

    private DetectorEventFields() {}

    /** Returns the first value of a field, bounded in length; empty if it is absent. */
    public static String text(DetectionEvent event, String field) {
        List<FieldValue> values = event.values(field);
        return values.isEmpty() ? "" : BoundedText.of(values.get(0).text());
    }

    /**
     * Returns the complete statement without its literals and the marks of version comments; empty if there is none.
     */
    public static String statement(DetectionEvent event) {
        List<FieldValue> values = event.values("statement");
        return values.isEmpty() ? "" : values.get(values.size() - 1).text();
    }

    /** Returns the first value of a field as a number; NaN if it is absent or not a number. */
    public static double number(DetectionEvent event, String field) {
        List<FieldValue> values = event.values(field);
        return values.isEmpty() ? Double.NaN : values.get(0).number();
    }

    /** Returns the scope of accounts: the cluster, or the instance if it belongs to no cluster. */
    public static String cluster(DetectionEvent event) {
        return text(event, "cluster");
    }

    /** Returns the instance if it belongs to no cluster; otherwise empty, so that replicas share state. */
    public static String instanceAlone(DetectionEvent event) {
        return event.values("cluster").isEmpty() ? text(event, "instance") : "";
    }

    /**
     * Returns whether the event shows that its user is logged in: a successful login, or any event after it. In a general
     * log a command that is no statement, such as {@code Binlog Dump}, may be the first event after a login.
     */
    public static boolean isActivity(DetectionEvent event) {
        return switch (text(event, "event_class")) {
            case CONNECTION -> "success".equals(text(event, "outcome")) && !isEnd(event);
            case "query", "table" -> true;
            default -> "success".equals(text(event, "login"));
        };
    }

    private static boolean isEnd(DetectionEvent event) {
        return event.values("command").stream().anyMatch(command -> ENDS.contains(command.folded()));
    }

    /**
     * Returns whether the event is the one event that counts for a statement: filter logs record a statement in
     * several.
     */
    public static boolean isStatement(DetectionEvent event) {
        String name = text(event, "event_name");
        return "query".equals(text(event, "event_class")) && (name.isEmpty() || "status".equals(name));
    }

    public static boolean hasFailed(DetectionEvent event) {
        return "failure".equals(text(event, "outcome"));
    }
}
