package io.tailrace.cli.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tailrace.detection.EntityKey;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Writes alerts as lines: as text for people, as JSON for programs. */
public final class AlertWriter {

    private static final List<String> WHO = List.of("user", "host", "database", "statement", "message");
    private static final int MAX_TEXT_LENGTH = 200;

    private final ObjectMapper json = new ObjectMapper();

    /** Returns time, level, title, entity and count, separated by tabs, with {@link Escaping#columns}. */
    public String text(RaisedAlert alert, DetectionEvent event) {
        String context = alert.entity().isEmpty() ? about(event) : EntityKey.of(alert.entity());
        return Escaping.columns(
                time(alert.micros()),
                alert.rule().level().name().toLowerCase(Locale.ROOT),
                alert.rule().title(),
                context,
                Long.toString(alert.metric()));
    }

    private static String about(DetectionEvent event) {
        String context = WHO.stream()
                .filter(field -> !event.values(field).isEmpty())
                .map(field -> field + "=" + event.values(field).get(0))
                .collect(Collectors.joining(" "));
        return context.length() <= MAX_TEXT_LENGTH ? context : context.substring(0, MAX_TEXT_LENGTH) + "…";
    }

    /** Returns the complete alert, with the fields of the event that caused it. */
    public String json(RaisedAlert alert, DetectionEvent event) {
        ObjectNode out = json.createObjectNode();
        out.put("alert_id", alert.id());
        out.put("@timestamp", time(alert.micros()));
        ObjectNode rule = out.putObject("rule");
        rule.put("id", alert.rule().id());
        rule.put("name", alert.rule().name());
        rule.put("title", alert.rule().title());
        rule.put("level", alert.rule().level().name().toLowerCase(Locale.ROOT));
        alert.rule().tags().forEach(rule.putArray("tags")::add);
        ObjectNode entity = out.putObject("entity");
        alert.entity().forEach(entity::put);
        out.put("count", alert.metric());
        out.put("window_start", time(alert.windowFrom()));
        alert.eventIds().forEach(out.putArray("event_ids")::add);
        alert.statements().forEach(out.putArray("statements")::add);
        ObjectNode facts = out.putObject("facts");
        new TreeMap<>(alert.facts()).forEach(facts::put);
        out.put("late", alert.late());
        fields(event, out.putObject("event"));
        try {
            return json.writeValueAsString(out);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void fields(DetectionEvent event, ObjectNode out) {
        new TreeMap<>(event.fields()).forEach((name, values) -> {
            if (values.size() == 1) {
                out.put(name, values.get(0).text());
            } else {
                ArrayNode array = out.putArray(name);
                values.stream().map(FieldValue::text).forEach(array::add);
            }
        });
    }

    private static String time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
    }
}
