package io.tailrace.flink.detection.alerts;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The address of the dashboard "Alerts", filtered on an alert's entity and time; without host. docs/ALERTS.md describes
 * it, schemas/links/alert_links.json lists what must come out for what goes in.
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

    /** Times in microseconds since 1970 UTC. */
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

    /** A text of Rison: in quotes, with ! before what would end it. */
    private static String text(String value) {
        return '\'' + value.replace("!", "!!").replace("'", "!'") + '\'';
    }

    /** Everything but RFC 3986's unreserved characters is percent-encoded. */
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
