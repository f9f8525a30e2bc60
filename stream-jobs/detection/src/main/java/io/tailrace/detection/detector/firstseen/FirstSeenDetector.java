package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.AbstractDetector;
import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.history.ShortHistory;
import io.tailrace.detection.sigma.rule.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Detects a value that an entity never had before, such as a new host or a new program of a user.
 *
 * <p>A new entity is learning. Its learning ends after the learning period, or earlier, if the entity was active for
 * the settling period without a new value. An entity with constant behaviour is therefore monitored early, and an
 * entity that was inactive continues to learn. An entity can be active without any value: a monitoring account may read no
 * table. Its first value after the learning is new.
 */
public final class FirstSeenDetector extends AbstractDetector<FirstSeenState> {

    private static final int MAX_NAMED = 5;
    private static final String FIELD_OF_CLASSES = "data_class";
    /** Key of the cache for events without a value. No value is empty. */
    private static final String NO_VALUE = "";

    private static final String FIRST_CLASS = " It accessed no sensitive data before.";
    private static final String FIRST_EVER = " It changed no rows and defined nothing before.";
    private static final String FIRST_DEFINED = " It defined nothing before.";
    private static final String AWAY = " It was never active within two hours of this time of the day before.";
    private static final String NEW_ACCOUNT = " The account is new, but the log of the instance is not.";
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
     * @param early values that are reported from the first activity of an entity on, if the log is as old as the learning
     *     period
     * @param away values that are new again at hours of the day at which the entity was never active
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
            Predicate<String> early,
            Predicate<String> away,
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
                    value -> false,
                    value -> false,
                    Raised.NEVER);
        }
    }

    public FirstSeenDetector(DetectorDefinition basis, Subject subject, Learning learning) {
        super(basis, FirstSeenState::new);
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
            boolean isEarly = unseen.stream().anyMatch(subject.early);
            int history = classes > 0 ? ShortHistory.days(event) : event.history();
            observations.accept(classes > 0 || isEarly ? observed.withHistory(history) : observed);
        }
    }

    @Override
    protected boolean apply(FirstSeenState state, Observation observation, Consumer<RaisedAlert> out) {
        long micros = observation.micros();
        // Only the first observation of an hour is certain to arrive, so others must not change its times.
        boolean isEarlier = ExpiringValueSet.hour(micros) < ExpiringValueSet.hour(state.observed.first());
        boolean changed = ExpiringValueSet.hour(micros) > ExpiringValueSet.hour(state.observed.latest()) || isEarlier;
        boolean learned = hasLearned(state, micros);
        boolean learnsAdded = state.learnsAdded(micros, learning.micros());
        if (changed) {
            state.observed.extend(micros);
        }
        changed |= subject.raised != Raised.NEVER && state.hours.add(micros);
        long newBefore = Math.max(state.latestNew, state.observed.first());
        List<String> unknown = learn(state, observation);
        if (unknown.isEmpty()) {
            return changed;
        }
        List<String> reported = unknown.stream()
                .filter(subject.quiet.negate())
                .filter(value -> !learnsAdded || !AddedValues.contain(value))
                .toList();
        boolean early = !learned && isEarly(observation, reported);
        // A first new value begins the learning again, but the rest of its day counts towards many.
        boolean restOfDay = state.settled && state.today.day() == ExpiringValueSet.day(micros);
        if ((learned || restOfDay || early) && !state.restless && !reported.isEmpty()) {
            startDay(state, micros, newBefore);
            boolean many = reachesMany(state, reported);
            boolean isSensitive = observation.amount() > 0 || reported.stream().anyMatch(subject.serious);
            boolean due = state.today.add(reported, isSensitive, learning.maxPerDay()) && (learned || early);
            if (due || many) {
                out.accept(alert(state, observation, reported, many));
            }
        }
        state.classesKnown |= observation.amount() > 0;
        return true;
    }

    private boolean hasLearned(FirstSeenState state, long micros) {
        if (state.observed.first() == Long.MAX_VALUE) {
            return false;
        }
        long unchanged = Math.max(state.latestNew, state.observed.first());
        return state.observed.hasLasted(learning.micros(), micros)
                || state.observed.latest() - unchanged >= learning.settleMicros();
    }

    /** Returns whether a new account uses values that no account uses at first, and the log is old enough to tell. */
    private boolean isEarly(Observation observation, List<String> reported) {
        return observation.history() >= learning.days() && reported.stream().anyMatch(subject.early);
    }

    /** Returns the values of an observation, and those that are new at this hour of the day. */
    private List<String> valuesOf(FirstSeenState state, Observation observation) {
        List<String> values = observation.values();
        if (values.stream().noneMatch(subject.away) || !isAway(state, observation.micros())) {
            return values;
        }
        List<String> all = new ArrayList<>(values);
        for (String value : values) {
            if (subject.away.test(value) && state.values.find(ExpiringValueSet.hash(value)) >= 0) {
                all.add(value + AddedValues.UNUSUAL_HOUR);
            }
        }
        return all;
    }

    private boolean isAway(FirstSeenState state, long micros) {
        return state.observed.hasLasted(learning.micros(), micros) && state.hours.isAway(micros, learning.micros());
    }

    private List<String> learn(FirstSeenState state, Observation observation) {
        List<String> unknown = new ArrayList<>(0);
        int hour = ExpiringValueSet.hour(observation.micros());
        for (String value : valuesOf(state, observation)) {
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

    private void startDay(FirstSeenState state, long micros, long newBefore) {
        int day = ExpiringValueSet.day(micros);
        if (day != state.today.day()) {
            state.today = new DailyNoveltyCounter(day);
            state.settled = micros - newBefore >= learning.settleMicros();
            state.countedToday = 0;
        }
    }

    /** Counts the new values of an event; returns whether the day's number reaches {@link Subject#many} with it. */
    private boolean reachesMany(FirstSeenState state, List<String> reported) {
        int before = state.countedToday;
        for (String value : reported) {
            boolean own = !CatalogueTables.contain(value) && !SchemaChangeTables.contain(value);
            state.countedToday += own ? 1 : 0;
        }
        return state.settled && before < subject.many && state.countedToday >= subject.many;
    }

    private RaisedAlert alert(FirstSeenState state, Observation observation, List<String> unknown, boolean many) {
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
    private boolean isFirstClass(FirstSeenState state, Observation observation) {
        return observation.amount() > 0 && !state.classesKnown && observation.history() >= learning.days();
    }

    /** Returns the reason for a level that its values alone do not have; empty if there is none. */
    private String raisedBy(FirstSeenState state, Observation observation, List<String> unknown) {
        long micros = observation.micros();
        if (!state.observed.hasLasted(learning.micros(), micros)) {
            return !hasLearned(state, micros) && isEarly(observation, unknown) ? NEW_ACCOUNT : "";
        }
        if (subject.raised == Raised.NEVER) {
            return "";
        }
        boolean isExcused =
                unknown.stream().allMatch(CatalogueTables::contain) || Maintenance.isStatement(observation.statement());
        String away = isAway(state, micros) && !isExcused ? AWAY : "";
        if (subject.raised == Raised.AWAY) {
            return away;
        }
        boolean defined = state.values.find(ExpiringValueSet.hash(ChangedColumns.DEFINITIONS)) >= 0;
        boolean defines = unknown.stream().anyMatch(ChangedColumns::isDefinition);
        return state.values.size() == unknown.size() ? FIRST_EVER : defines && !defined ? FIRST_DEFINED : away;
    }

    private String explanation(FirstSeenState state, Observation observation, List<String> unknown) {
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
