package io.tailrace.detection.event;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** An event as rules see it: fields with their values. A field without a value is absent. Not thread-safe. */
public final class DetectionEvent {

    /** Name under which the context of an alert has {@link #history}. */
    public static final String HISTORY = "history_days";

    /** The class of a row of a table. */
    private static final String ROW = "table";

    private final String id;
    private final long micros;
    private final long order;
    private final LogSource source;
    /** Values by {@link FieldPlace}; null if the field is absent. */
    private final List<FieldValue>[] placed;
    /** Fields without a place. */
    private Map<String, List<FieldValue>> others;

    private final long shape;
    private ActionReference action;
    private Function<DetectionEvent, ActionReference> actions;
    private int history = Integer.MAX_VALUE;

    private DetectionEvent(Builder builder) {
        this.id = builder.id;
        this.micros = builder.micros;
        this.order = builder.order;
        this.source = builder.source;
        this.placed = builder.placed;
        this.others = builder.others;
        this.shape = builder.shape;
        this.actions = event -> new ActionReference(event.id, event.micros, event.order);
    }

    /**
     * Returns a builder for an event.
     *
     * @param id unique id of the event
     * @param micros event time, microseconds since 1970 UTC
     * @param source log that contains the event
     */
    public static Builder builder(String id, long micros, LogSource source) {
        return new Builder(id, micros, source);
    }

    public String id() {
        return id;
    }

    /**
     * Returns the id by which the alert of a correlation names the event. It is empty for a row of a table: the alert then
     * names the statement that touched the row.
     */
    public String recordId() {
        List<FieldValue> classes = values(DatabaseField.EVENT_CLASS.fieldName());
        return !classes.isEmpty() && classes.get(0).text().equals(ROW) ? "" : id;
    }

    /** Returns the event time, in microseconds since 1970 UTC. */
    public long micros() {
        return micros;
    }

    /** Returns the order of the event among those of the same time: its offset in the log; 0 if that is unknown. */
    public long order() {
        return order;
    }

    public LogSource source() {
        return source;
    }

    /**
     * Returns the action that the event records; other logs may have events of the same action. By default it is the
     * event itself.
     */
    public ActionReference action() {
        if (action == null) {
            action = actions.apply(this);
        }
        return action;
    }

    /** Returns the id of the action, which is the same for all events of one action. */
    public String actionId() {
        return action().id();
    }

    /**
     * Sets the resolver of the event's action. It is called at most once and only on demand, because most events match
     * no rule.
     */
    public void actionFrom(Function<DetectionEvent, ActionReference> knowing) {
        action = null;
        actions = knowing;
    }

    /**
     * Returns for how many full days before the event the log of its instance is known; {@link Integer#MAX_VALUE} if its
     * beginning is unknown.
     */
    public int history() {
        return history;
    }

    /** Sets {@link #history}. */
    public void history(int days) {
        history = days;
    }

    /** Returns the values of a field; empty if it is absent. */
    public List<FieldValue> values(String field) {
        int place = FieldPlace.of(field);
        return place == FieldPlace.NONE ? others.getOrDefault(field, List.of()) : values(place);
    }

    /**
     * Returns the values of a field; empty if it is absent.
     *
     * @param place from {@link FieldPlace#of}, not {@link FieldPlace#NONE}
     */
    public List<FieldValue> values(int place) {
        List<FieldValue> values = placed[place];
        return values == null ? List.of() : values;
    }

    /** Adds a field that the log does not contain. If there are no values, the field remains unchanged. */
    public void enrich(String field, List<FieldValue> values) {
        int place = FieldPlace.of(field);
        if (values.isEmpty()) {
            return;
        }
        if (place != FieldPlace.NONE) {
            placed[place] = values;
            return;
        }
        if (others.isEmpty()) {
            others = new HashMap<>();
        }
        others.put(field, values);
    }

    /** Returns a new map with all fields that have a value. */
    public Map<String, List<FieldValue>> fields() {
        Map<String, List<FieldValue>> fields = new HashMap<>(others);
        for (int place = 0; place < placed.length; place++) {
            if (placed[place] != null) {
                fields.put(FieldPlace.name(place), placed[place]);
            }
        }
        return fields;
    }

    /** Returns the fields that have a value but no {@link FieldPlace}. */
    public Map<String, List<FieldValue>> fieldsWithoutPlace() {
        return Collections.unmodifiableMap(others);
    }

    /**
     * Returns a hash of the names of the fields that the log contains, without later enrichment. Events with the same
     * fields have the same hash; others have it by coincidence only.
     */
    public long shape() {
        return shape;
    }

    /** Collects the fields of an event. */
    public static final class Builder {

        /** Multiplication by it spreads a hash of 32 bits over 64. */
        private static final long SPREAD = 0x9E3779B97F4A7C15L;

        private final String id;
        private final long micros;
        private final LogSource source;
        private long order;
        private long shape;

        @SuppressWarnings({"unchecked", "rawtypes"})
        private final List<FieldValue>[] placed = new List[FieldPlace.COUNT];

        private Map<String, List<FieldValue>> others = Map.of();

        private Builder(String id, long micros, LogSource source) {
            this.id = id;
            this.micros = micros;
            this.source = source;
        }

        /** Sets the order among events of the same time: a smaller number is earlier. */
        public Builder order(long offset) {
            this.order = offset;
            return this;
        }

        /** A sum, so that the order of the fields does not matter. */
        private void put(String field, List<FieldValue> values) {
            if (place(field, values) == null) {
                long spread = field.hashCode() * SPREAD;
                shape += (spread ^ spread >>> Integer.SIZE) * SPREAD;
            }
        }

        /** Sets the values of a field. Returns the values that they replace; null if the field was absent. */
        private List<FieldValue> place(String field, List<FieldValue> values) {
            int place = FieldPlace.of(field);
            if (place == FieldPlace.NONE) {
                if (others.isEmpty()) {
                    others = new HashMap<>();
                }
                return others.put(field, values);
            }
            List<FieldValue> former = placed[place];
            placed[place] = values;
            return former;
        }

        /** Sets a text, which may be empty: an empty value is not an absent one. */
        public Builder text(String field, String text) {
            put(field, List.of(FieldValue.of(text)));
            return this;
        }

        public Builder time(String field, Instant time) {
            put(field, List.of(FieldValue.of(time)));
            return this;
        }

        /** Sets a text; an empty one means that the value is unknown. */
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

        /** Sets several values, any of which a rule may match. If there are none, the field remains absent. */
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
