package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.AbstractDetector;
import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.ObservedPeriod;
import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.history.ShortHistory;
import io.tailrace.detection.sigma.rule.Level;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Detects a value that an entity never had before, such as a new host or a new program of a user.
 *
 * <p>A new entity is learning. Its learning ends after the learning period, or earlier, if the entity was active for
 * the settling period without a new value. An entity with constant behaviour is therefore monitored early, and an
 * entity that was inactive continues to learn. An entity can be active without any value: a monitoring account may read no
 * table. Its first value after the learning is new.
 */
public final class FirstSeenDetector extends AbstractDetector<FirstSeenDetector.State> {

    private static final byte OLDEST_VERSION = 1;
    private static final byte WITHOUT_CLASSES = 2;
    private static final byte WITHOUT_MANY = 3;
    private static final byte WITHOUT_HOURS = 4;
    private static final byte WITHOUT_FIRST_DAY = 5;
    private static final byte VERSION = 6;
    private static final int MAX_NAMED = 5;
    private static final String FIELD_OF_CLASSES = "data_class";
    /** Key of the cache for events without a value. No value is empty. */
    private static final String NO_VALUE = "";

    /** Copies and log tables of gh-ost and pt-online-schema-change: one change of a schema has three of them. */
    private static final Pattern COPIES = Pattern.compile("(.*\\.)?_.+_(gho|ghc|del|new|old)");

    private static final String FIRST_CLASS = " It accessed no sensitive data before.";
    private static final String FIRST_EVER = " It changed no rows and defined nothing before.";
    private static final String FIRST_DEFINED = " It defined nothing before.";
    private static final String AWAY = " It was never active within two hours of this time of the day before.";
    private static final String OF_CLASS = "\n";

    private final Subject subject;
    private final Learning learning;
    private final OneRowStatements rows = new OneRowStatements();
    private final ObservationCache recently = new ObservationCache(ExpiringValueSet.HOUR);
    private final DetectorAlertFactory alerts;
    private final DetectorAlertFactory ofFirstClass;
    private final DetectorAlertFactory ofMedium;

    /**
     * Defines the observed values.
     *
     * @param entity field of the entity within its cluster or instance; empty: the cluster or instance itself
     * @param field field whose values are observed
     * @param wanted condition for the events to observe
     * @param shape converts a value to the compared form, such as the network of an address
     * @param quiet values that are learned but never reported
     * @param active events without a value that count as activity of the entity, so that its learning begins
     * @param firstClass level of the first access of a known entity to any data class, unless by a statement about one row
     * @param many number of new values on one day, without those of catalogues and schema changes, from which on an alert
     *     has the level medium; it is for entities without a new value in the settling period before; 0: never
     * @param values returns the values of an event
     * @param serious values whose alerts have the level medium
     * @param raised other reasons for the level medium, for entities that are learned for the whole learning period
     */
    public record Subject(
            String entity,
            String field,
            Predicate<DetectionEvent> wanted,
            UnaryOperator<String> shape,
            Predicate<String> quiet,
            Predicate<DetectionEvent> active,
            Optional<Level> firstClass,
            int many,
            Function<DetectionEvent, List<FieldValue>> values,
            Predicate<String> serious,
            Raised raised) {

        public Subject(
                String entity,
                String field,
                Predicate<DetectionEvent> wanted,
                UnaryOperator<String> shape,
                Predicate<String> quiet) {
            this(entity, field, wanted, shape, quiet, event -> false, Optional.empty(), 0);
        }

        public Subject(
                String entity,
                String field,
                Predicate<DetectionEvent> wanted,
                UnaryOperator<String> shape,
                Predicate<String> quiet,
                Predicate<DetectionEvent> active,
                Optional<Level> firstClass,
                int many) {
            this(
                    entity,
                    field,
                    wanted,
                    shape,
                    quiet,
                    active,
                    firstClass,
                    many,
                    event -> event.values(field),
                    value -> false,
                    Raised.NEVER);
        }
    }

    public FirstSeenDetector(DetectorDefinition basis, Subject subject, Learning learning) {
        super(basis, State::new);
        this.subject = subject;
        this.learning = learning;
        List<String> fields = new ArrayList<>(List.of("cluster", "instance"));
        fields.add(subject.entity.isEmpty() ? subject.field : subject.entity);
        this.alerts = new DetectorAlertFactory(basis.header(), fields);
        Level level = subject.firstClass.orElse(basis.header().level());
        this.ofFirstClass = new DetectorAlertFactory(basis.header().at(level), fields);
        this.ofMedium = new DetectorAlertFactory(basis.header().at(Level.MEDIUM), fields);
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        List<FieldValue> values = subject.values.apply(event);
        boolean hasEntity =
                subject.entity.isEmpty() || !event.values(subject.entity).isEmpty();
        boolean counts = values.isEmpty() ? subject.active.test(event) : subject.wanted.test(event);
        if (!hasEntity || !counts || basis.isExcepted(event)) {
            return;
        }
        String cluster = DetectorEventFields.cluster(event);
        String instance = DetectorEventFields.instanceAlone(event);
        String entity = subject.entity.isEmpty() ? "" : DetectorEventFields.text(event, subject.entity);
        boolean isOfOneRow = subject.firstClass.isPresent() && rows.isOne(event);
        boolean isDump = subject.firstClass.isPresent() && Dumps.contain(event); // sensitive_dumped reports its classes
        int touched = event.values(FIELD_OF_CLASSES).size();
        boolean maintains = touched > 0
                && subject.firstClass.isPresent()
                && Maintenance.touchesNoRows(DetectorEventFields.statement(event));
        String part = isOfOneRow ? OneRowStatements.SUFFIX : maintains ? Maintenance.SUFFIX : "";
        String extent = touched > 0 ? part : "";
        int classes = isOfOneRow || isDump || maintains ? 0 : touched;
        String prefix = classes > 0 ? OF_CLASS : NO_VALUE;
        List<String> unseen = new ArrayList<>(0);
        for (int i = 0; i < values.size(); i++) {
            String value = subject.shape.apply(BoundedText.of(values.get(i).text()));
            if (!value.isEmpty()
                    && recently.isNew(event.micros(), cluster, instance, entity, prefix + value + extent)) {
                unseen.add(value + extent);
            }
        }
        boolean isActive = values.isEmpty() && recently.isNew(event.micros(), cluster, instance, entity, NO_VALUE);
        if (!unseen.isEmpty() || isActive) {
            List<String> key =
                    subject.entity.isEmpty() ? List.of(cluster, instance) : List.of(cluster, instance, entity);
            Observation observed = basis.observation(event, event.actionId(), key, unseen, classes);
            observations.accept(classes > 0 ? observed.withHistory(ShortHistory.days(event)) : observed);
        }
    }

    /** The known values of an entity. */
    static final class State implements DetectorState {

        private final ObservedPeriod observed = new ObservedPeriod();
        private long latestNew = Long.MIN_VALUE;
        private boolean restless;
        /** Whether the entity accessed a data class. States of version 2 do not contain it; it is true for them. */
        private boolean classesKnown;

        /** Whether the entity had no new value in the settling period before this day's first one. */
        private boolean settled;
        /** New values of the day without those of catalogues and schema changes. */
        private int countedToday;

        private HoursOfDay hours = new HoursOfDay();
        private DailyNoveltyCounter today = new DailyNoveltyCounter(0);
        private ExpiringValueSet values = new ExpiringValueSet();

        @Override
        public long latestMicros() {
            return observed.latest();
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            observed.write(out);
            out.writeLong(latestNew);
            out.writeBoolean(restless);
            today.write(out);
            values.write(out);
            out.writeBoolean(classesKnown);
            out.writeBoolean(settled);
            out.writeInt(countedToday);
            hours.write(out);
        }

        @Override
        public void read(DataInput in) throws IOException {
            byte version = DetectorDefinition.requireVersion(in, OLDEST_VERSION, VERSION);
            observed.read(in);
            latestNew = in.readLong();
            restless = in.readBoolean();
            today = version == OLDEST_VERSION ? DailyNoveltyCounter.readFirstVersion(in) : DailyNoveltyCounter.read(in);
            values = ExpiringValueSet.read(in);
            classesKnown = version <= WITHOUT_CLASSES || in.readBoolean();
            settled = version > WITHOUT_MANY && in.readBoolean();
            countedToday = version > WITHOUT_MANY ? in.readInt() : 0;
            hours = version > WITHOUT_HOURS ? HoursOfDay.read(in, version > WITHOUT_FIRST_DAY) : new HoursOfDay();
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        long micros = observation.micros();
        // Only the first observation of an hour is certain to arrive, so others must not change its times.
        boolean isEarlier = ExpiringValueSet.hour(micros) < ExpiringValueSet.hour(state.observed.first());
        boolean changed = ExpiringValueSet.hour(micros) > ExpiringValueSet.hour(state.observed.latest()) || isEarlier;
        boolean learned = hasLearned(state, micros);
        if (changed) {
            state.observed.extend(micros);
        }
        changed |= subject.raised != Raised.NEVER && state.hours.add(micros);
        long newBefore = Math.max(state.latestNew, state.observed.first());
        List<String> unknown = learn(state, observation);
        if (unknown.isEmpty()) {
            return changed;
        }
        List<String> reported = unknown.stream().filter(subject.quiet.negate()).toList();
        // A first new value begins the learning again, but the rest of its day counts towards many.
        boolean restOfDay = state.settled && state.today.day() == ExpiringValueSet.day(micros);
        if ((learned || restOfDay) && !state.restless && !reported.isEmpty()) {
            startDay(state, micros, newBefore);
            boolean many = reachesMany(state, reported);
            boolean isSensitive = observation.amount() > 0 || reported.stream().anyMatch(subject.serious);
            boolean due = state.today.add(reported, isSensitive, learning.maxPerDay()) && learned;
            if (due || many) {
                out.accept(alert(state, observation, reported, many));
            }
        }
        state.classesKnown |= observation.amount() > 0;
        return true;
    }

    private boolean hasLearned(State state, long micros) {
        if (state.observed.first() == Long.MAX_VALUE) {
            return false;
        }
        long unchanged = Math.max(state.latestNew, state.observed.first());
        return state.observed.hasLasted(learning.micros(), micros)
                || state.observed.latest() - unchanged >= learning.settleMicros();
    }

    private List<String> learn(State state, Observation observation) {
        List<String> unknown = new ArrayList<>(0);
        int hour = ExpiringValueSet.hour(observation.micros());
        for (String value : observation.values()) {
            long hash = ExpiringValueSet.hash(value);
            int place = state.values.find(hash);
            place = place >= 0 ? place : state.values.find(ExpiringValueSet.hash(allRows(value)));
            if (place >= 0) {
                state.values.touch(place, hour);
            } else {
                unknown.add(value);
                state.restless |= state.values.size() == learning.maxValues();
                state.values.add(hash, hour, learning.maxValues());
                if (!CatalogueTables.contain(value)) {
                    state.latestNew = Math.max(state.latestNew, observation.micros());
                }
            }
        }
        return unknown;
    }

    /** Returns the value for all rows of a table. */
    private static String allRows(String value) {
        String suffix = value.endsWith(Maintenance.SUFFIX) ? Maintenance.SUFFIX : OneRowStatements.SUFFIX;
        return value.endsWith(suffix) ? value.substring(0, value.length() - suffix.length()) : value;
    }

    private void startDay(State state, long micros, long newBefore) {
        int day = ExpiringValueSet.day(micros);
        if (day != state.today.day()) {
            state.today = new DailyNoveltyCounter(day);
            state.settled = micros - newBefore >= learning.settleMicros();
            state.countedToday = 0;
        }
    }

    /** Counts the new values of an event; returns whether the day's number reaches {@link Subject#many} with it. */
    private boolean reachesMany(State state, List<String> reported) {
        int before = state.countedToday;
        for (String value : reported) {
            boolean own =
                    !CatalogueTables.contain(value) && !COPIES.matcher(value).matches();
            state.countedToday += own ? 1 : 0;
        }
        return state.settled && before < subject.many && state.countedToday >= subject.many;
    }

    private RaisedAlert alert(State state, Observation observation, List<String> unknown, boolean many) {
        Map<String, String> facts = new TreeMap<>();
        facts.put(subject.field, String.join(", ", unknown.subList(0, Math.min(MAX_NAMED, unknown.size()))));
        facts.put("known_values", Integer.toString(state.values.size() - unknown.size()));
        facts.put("known_since", DetectorAlertFactory.time(state.observed.first()));
        state.today.describe(facts);
        boolean first = subject.firstClass.isPresent() && isFirstClass(state, observation);
        String reason = first ? FIRST_CLASS : raisedBy(state, observation, unknown);
        facts.put(Explanation.FACT, explanation(state, observation, unknown) + reason);
        String what = ExpiringValueSet.day(observation.micros()) + " " + String.join("\u001f", unknown);
        boolean serious = many || !reason.isEmpty() || unknown.stream().anyMatch(subject.serious);
        return (first ? ofFirstClass : serious ? ofMedium : alerts)
                .alert(
                        withContext(observation, unknown),
                        what,
                        observation.micros(),
                        state.today.values(),
                        List.of(AlertSample.of(observation)),
                        facts);
    }

    /** Returns whether the entity accesses a data class for the first time, and the log is old enough to tell. */
    private boolean isFirstClass(State state, Observation observation) {
        return observation.amount() > 0 && !state.classesKnown && observation.history() >= learning.days();
    }

    /** Returns the reason for a level that its values alone do not have; empty if there is none. */
    private String raisedBy(State state, Observation observation, List<String> unknown) {
        long micros = observation.micros();
        if (subject.raised == Raised.NEVER || !state.observed.hasLasted(learning.micros(), micros)) {
            return "";
        }
        boolean isExcused =
                unknown.stream().allMatch(CatalogueTables::contain) || Maintenance.isStatement(observation.statement());
        String away = state.hours.isAway(micros, learning.micros()) && !isExcused ? AWAY : "";
        if (subject.raised == Raised.AWAY) {
            return away;
        }
        boolean defined = state.values.find(ExpiringValueSet.hash(ChangedColumns.DEFINITIONS)) >= 0;
        boolean isProgram = unknown.contains(ChangedColumns.STORED_PROGRAMS);
        return state.values.size() == unknown.size() ? FIRST_EVER : isProgram && !defined ? FIRST_DEFINED : away;
    }

    private String explanation(State state, Observation observation, List<String> unknown) {
        String what = subject.field.replace('_', ' ');
        int known = state.values.size() - unknown.size();
        return String.format(
                "%s %s %s of %s never occurred before; expected was one of the %s known since %s.",
                Explanation.number(unknown.size()),
                unknown.size() == 1 ? "value" : "values",
                "(" + what + ": " + String.join(", ", unknown.subList(0, Math.min(MAX_NAMED, unknown.size()))) + ")",
                subject.entity.isEmpty() ? "the cluster" : observation.entity().get(2),
                Explanation.number(known),
                DetectorAlertFactory.time(state.observed.first()));
    }

    /** If all values of a cluster are observed, the alert is about the value. */
    private Observation withContext(Observation observation, List<String> unknown) {
        if (!subject.entity.isEmpty()) {
            return observation;
        }
        List<String> entity = new ArrayList<>(observation.entity());
        entity.add(unknown.get(0));
        return observation.withEntity(entity);
    }
}
