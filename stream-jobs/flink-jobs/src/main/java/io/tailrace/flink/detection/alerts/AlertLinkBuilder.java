package io.tailrace.flink.detection.alerts;

import io.tailrace.detection.alert.AlertContext;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Builds the URL path of the dashboard "Alerts" with filters for an alert's entity and time, without the host.
 * docs/ALERTS.md describes it, and schemas/links/alert_links.json contains inputs with expected results.
 */
final class AlertLinkBuilder {

    private static final String PATH = "/superset/dashboard/alerts/?native_filters=";
    private static final List<String> FILTERS = List.of(
            AlertContext.CLUSTER,
            AlertContext.INSTANCE,
            AlertContext.USER,
            AlertContext.SRC_IP,
            AlertContext.DATABASE,
            AlertContext.PROGRAM);
    private static final long MARGIN_SECONDS = 30 * 60;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss").withZone(ZoneOffset.UTC);

    private AlertLinkBuilder() {}

    /** Returns the path; times are in microseconds since 1970 UTC. */
    static String of(Map<String, String> entity, String ruleTitle, long windowFrom, long eventTime) {
        StringBuilder masks = new StringBuilder("(").append(timeMask(windowFrom, eventTime));
        known(entity, ruleTitle).forEach((field, value) -> masks.append(',').append(valueMask(field, value)));
        return PATH + encoded(masks.append(')').toString());
    }

    private static Map<String, String> known(Map<String, String> entity, String ruleTitle) {
        Map<String, String> known = new LinkedHashMap<>();
        for (String field : FILTERS) {
            if (!entity.getOrDefault(field, "").isEmpty()) {
                known.put(field, entity.get(field));
            }
        }
        return known.isEmpty() ? Map.of("rule", ruleTitle) : known;
    }

    private static String timeMask(long windowFrom, long eventTime) {
        String span = text(time(windowFrom, -MARGIN_SECONDS) + " : " + time(eventTime, MARGIN_SECONDS));
        return mask("time-range", "(time_range:" + span + ")", "(value:" + span + ")");
    }

    private static String time(long micros, long secondsMore) {
        return TIME.format(Instant.ofEpochSecond(Math.floorDiv(micros, MICROS_PER_SECOND) + secondsMore));
    }

    private static String valueMask(String field, String value) {
        String column = field.equals("rule") ? "rule_title" : field;
        String text = text(value);
        String extra = "(filters:!((col:" + column + ",op:IN,val:!(" + text + "))))";
        return mask(field, extra, "(label:" + text + ",value:!(" + text + "))");
    }

    private static String mask(String name, String extra, String state) {
        String key = "NATIVE_FILTER-" + name;
        return key + ":(extraFormData:" + extra + ",filterState:" + state + ",id:" + key + ",ownState:())";
    }

    /** Returns a text in Rison: in quotes, with ! as the escape character. */
    private static String text(String value) {
        return '\'' + value.replace("!", "!!").replace("'", "!'") + '\'';
    }

    /** Percent-encodes everything except RFC 3986's unreserved characters. */
    private static String encoded(String text) {
        StringBuilder out = new StringBuilder(text.length() * 2);
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (octet & 0xff);
            if (c < 0x80 && (Character.isLetterOrDigit(c) || "-._~".indexOf(c) >= 0)) {
                out.append(c);
            } else {
                out.append(String.format("%%%02X", (int) c));
            }
        }
        return out.toString();
    }
}
