package io.tailrace.cli.input;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Reads events of any kind as JSON objects, one per line, for rules that do not concern databases. Names of nested
 * members are joined with a full stop; members of arrays are values of one field; null is absent. {@code @timestamp} or
 * {@code timestamp} is the event's time (ISO 8601, or seconds since 1970), {@code event_id} its id; without one, the
 * line number is.
 */
public final class JsonEventReader {

    private static final List<String> TIMES = List.of("@timestamp", "timestamp");
    private static final double MICROS = 1e6;

    private final ObjectMapper json = new ObjectMapper();

    /**
     * Reads all lines and skips those that are not an event.
     *
     * @param refused receives the reason why a line is not an event, with its number
     */
    public void read(InputStream in, Consumer<DetectionEvent> events, Consumer<String> refused) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        long number = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            if (!line.isBlank()) {
                event(line, number, events, refused);
            }
        }
    }

    private void event(String line, long number, Consumer<DetectionEvent> events, Consumer<String> refused) {
        String place = "line " + number + ": expected ";
        try {
            JsonNode object = json.readTree(line);
            if (object.isObject()) {
                events.accept(event(object, number));
            } else {
                refused.accept(place + "a JSON object, found " + named(object));
            }
        } catch (JsonProcessingException e) {
            refused.accept(place + "a JSON object: " + e.getOriginalMessage());
        } catch (DateTimeException | ArithmeticException e) {
            refused.accept(place + "a time of ISO 8601: " + e.getMessage());
        }
    }

    private static String named(JsonNode node) {
        return node.getNodeType().name().toLowerCase(Locale.ROOT);
    }

    private static DetectionEvent event(JsonNode object, long number) {
        String id = object.path("event_id").asText(Long.toString(number));
        DetectionEvent.Builder event = DetectionEvent.builder(id, micros(object), LogSource.ANY);
        members("", object, event);
        return event.order(number).build();
    }

    private static long micros(JsonNode object) {
        for (String name : TIMES) {
            JsonNode time = object.path(name);
            if (time.isNumber()) {
                return Math.round(time.asDouble() * MICROS);
            }
            if (time.isTextual()) {
                Instant instant = OffsetDateTime.parse(time.asText()).toInstant();
                return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
            }
        }
        return 0;
    }

    private static void members(String prefix, JsonNode object, DetectionEvent.Builder event) {
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            member(prefix + member.getKey(), member.getValue(), event);
        }
    }

    private static void member(String name, JsonNode value, DetectionEvent.Builder event) {
        if (value.isObject()) {
            members(name + '.', value, event);
        } else if (value.isArray()) {
            List<String> texts = new ArrayList<>();
            value.forEach(element -> texts.add(element.isValueNode() ? element.asText() : element.toString()));
            event.texts(name, texts);
        } else if (value.isIntegralNumber() && value.canConvertToLong()) {
            event.number(name, value.longValue());
        } else if (value.isFloatingPointNumber()) {
            event.number(name, value.doubleValue());
        } else if (value.isBoolean()) {
            event.flag(name, value.booleanValue());
        } else if (!value.isNull()) {
            event.text(name, value.asText());
        }
    }
}
