package io.tailrace.detection.event;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** An event as rules see it: fields with their values. A field without a value is absent. Used by one thread. */
public final class DetectionEvent {

    private final String id;
    private final long micros;
    private final long order;
    private final LogSource source;
    private final Map<String, List<FieldValue>> fields;
    private final long shape;
    private ActionReference action;
    private Function<DetectionEvent, ActionReference> actions;

    private DetectionEvent(Builder builder) {
        this.id = builder.id;
        this.micros = builder.micros;
        this.order = builder.order;
        this.source = builder.source;
        this.fields = builder.fields;
        this.shape = builder.shape;
        this.actions = event -> new ActionReference(event.id, event.micros, event.order);
    }

    /**
     * An event without fields yet.
     *
     * @param id what distinguishes it from all others
     * @param micros event time, microseconds since 1970 UTC
     * @param source the log that it is from
     */
    public static Builder builder(String id, long micros, LogSource source) {
        return new Builder(id, micros, source);
    }

    public String id() {
        return id;
    }

    /** Event time, microseconds since 1970 UTC. */
    public long micros() {
        return micros;
    }

    /** Where the event stands among those of the same time: its offset in the log; 0 where that is unknown. */
    public long order() {
        return order;
    }

    public LogSource source() {
        return source;
    }

    /** What the event records; other logs may have events of the same action. By default it stands for itself. */
    public ActionReference action() {
        if (action == null) {
            action = actions.apply(this);
        }
        return action;
    }

    /** What distinguishes the event's action from all others: the same for all events of one action. */
    public String actionId() {
        return action().id();
    }

    /**
     * Says who knows the event's action. It is asked at most once, and only if somebody asks the event: most events are
     * of no interest to any rule.
     */
    public void actionFrom(Function<DetectionEvent, ActionReference> knowing) {
        action = null;
        actions = knowing;
    }

    /** The values of a field; none: it is absent. */
    public List<FieldValue> values(String field) {
        return fields.getOrDefault(field, List.of());
    }

    /** Adds what is known of the event beside what its log says; no values: the field stays as it is. */
    public void enrich(String field, List<FieldValue> values) {
        if (!values.isEmpty()) {
            fields.put(field, values);
        }
    }

    /** All fields that have a value. */
    public Map<String, List<FieldValue>> fields() {
        return fields;
    }

    /**
     * A hash of the names of the fields that its log says, whatever was added to the event later: the same for events
     * with the same fields, and for others by chance only.
     */
    public long shape() {
        return shape;
    }

    /** Collects the fields of an event. */
    public static final class Builder {

        /** For some thirty fields and what the event is enriched with. */
        private static final int INITIAL_CAPACITY = 64;
        /** Its product spreads a hash of 32 bits over 64. */
        private static final long SPREAD = 0x9E3779B97F4A7C15L;

        private final String id;
        private final long micros;
        private final LogSource source;
        private long order;
        private long shape;
        private final Map<String, List<FieldValue>> fields = new HashMap<>(INITIAL_CAPACITY);

        private Builder(String id, long micros, LogSource source) {
            this.id = id;
            this.micros = micros;
            this.source = source;
        }

        /** Says which of two events of the same time was first: that with the smaller number. */
        public Builder order(long offset) {
            this.order = offset;
            return this;
        }

        /** A sum, so that the order of the fields does not matter. */
        private void put(String field, List<FieldValue> values) {
            if (fields.put(field, values) == null) {
                long spread = field.hashCode() * SPREAD;
                shape += (spread ^ spread >>> Integer.SIZE) * SPREAD;
            }
        }

        /** Sets a text, which may be empty: present and empty is not absent. */
        public Builder text(String field, String text) {
            put(field, List.of(FieldValue.of(text)));
            return this;
        }

        public Builder time(String field, Instant time) {
            put(field, List.of(FieldValue.of(time)));
            return this;
        }

        /** Sets a text that is unknown where it is empty. */
        public Builder known(String field, String text) {
            return text.isEmpty() ? this : text(field, text);
        }

        public Builder number(String field, long number) {
            put(field, List.of(FieldValue.of(number)));
            return this;
        }

        public Builder number(String field, double number) {
            put(field, List.of(FieldValue.of(number)));
            return this;
        }

        public Builder flag(String field, boolean value) {
            put(field, List.of(FieldValue.of(value)));
            return this;
        }

        /** Sets several values, any of which a rule may match; none: the field stays absent. */
        public Builder texts(String field, Iterable<String> texts) {
            List<FieldValue> values = new ArrayList<>();
            texts.forEach(text -> values.add(FieldValue.of(text)));
            if (!values.isEmpty()) {
                put(field, List.copyOf(values));
            }
            return this;
        }

        public DetectionEvent build() {
            return new DetectionEvent(this);
        }
    }
}
