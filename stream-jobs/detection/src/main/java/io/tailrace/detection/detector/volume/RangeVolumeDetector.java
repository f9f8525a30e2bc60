package io.tailrace.detection.detector.volume;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.AbstractDetector;
import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.DetectorOptions;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.ObservedPeriod;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Detects an account that takes a table in parts on a day, although it did not on earlier days: {@link RangeStatements} by
 * ranges, {@link LookupStatements} row by row, also in one hour. The limit grows with the number of statements of the account, so that lists
 * of an application, which users turn over, are not reported.
 */
public final class RangeVolumeDetector extends AbstractDetector<RangeVolumeDetector.State> {

    /**
     * Limits of usual days.
     *
     * @param deviations number of deviations from the median
     * @param atLeast statements on parts of a table up to which no day is unusual
     * @param share share of the account's statements of a day up to which a table without a past is not unusual
     * @param atLeastOfHour lookups of a table up to which no hour is unusual
     * @param learningMicros how long an account is learned
     */
    public record Limits(double deviations, double atLeast, double share, double atLeastOfHour, long learningMicros) {

        public static Limits of(DetectorOptions settings, Measure measure) {
            return new Limits(
                    settings.number("deviations", 6, 1, 100),
                    settings.number("min_amount", measure.atLeast, 1, 1e12),
                    measure.needsPast ? 0 : settings.number("min_share", 0.25, 0, 1),
                    measure == Measure.RANGES ? 0 : settings.number("min_amount_hour", measure.atLeastOfHour, 1, 1e12),
                    settings.days("learning", 14));
        }
    }

    /** What is counted. */
    public enum Measure {
        /** Statements on a range, a pattern, a remainder or a page of a table. */
        RANGES("with a range, pattern or page as their only condition", 2, 1, 20, 0, false),
        /** Statements that read or change sensitive rows by a value. */
        LOOKUPS("that read or change sensitive rows by single values", 4, 1, 20, 10, false),
        /** Statements that read other rows by a value, of tables that the account reads like this on most days. */
        READS("that read rows by single values", 3, 8, 500, 150, true);

        private final String what;
        /**
         * Factor of the threshold of a table with a past, because the numbers of days are small and differ much. Lookups
         * grow with the users of an application.
         */
        private final double daysVary;
        /** One in so many statements is read and counts as many, a power of two. */
        private final int weight;

        private final int atLeast;
        private final int atLeastOfHour;
        /** Whether a table without {@link #MIN_DAYS} days is never unusual, as those of a new release. */
        private final boolean needsPast;

        Measure(String what, double daysVary, int weight, int atLeast, int atLeastOfHour, boolean needsPast) {
            this.what = what;
            this.daysVary = daysVary;
            this.weight = weight;
            this.atLeast = atLeast;
            this.atLeastOfHour = atLeastOfHour;
            this.needsPast = needsPast;
        }

        private Function<DetectionEvent, String> parts() {
            return switch (this) {
                case RANGES -> new RangeStatements()::partOf;
                case LOOKUPS -> new LookupStatements()::partOf;
                case READS -> new LookupStatements()::otherPartOf;
            };
        }
    }

    private static final byte WITHOUT_HOURS = 1;
    private static final byte VERSION = 2;
    /** One in so many events counts towards the statements of the account. */
    private static final int SHARE = 32;

    private static final int MAX_TABLES = 64;
    private static final int RECENT_ACTIONS = 32;
    /** Second value of the observation of a statement that reads a data class. */
    private static final String SENSITIVE = "sensitive";
    /** Days within which parts of a table on {@link #OWN_DAYS} days are a copy, if there were none before. */
    private static final int SLOW_DAYS = 7;
    /** A table has a past of its own from so many days on. */
    private static final int OWN_DAYS = 3;
    /** The same for reads of rows that are not sensitive. */
    private static final int MIN_DAYS = 5;

    private final Limits limits;
    private final DetectorAlertFactory alerts;
    private final Measure measure;
    private final Function<DetectionEvent, String> parts;

    public RangeVolumeDetector(DetectorDefinition basis, Measure measure, Limits limits) {
        super(basis, State::new);
        this.measure = measure;
        this.parts = measure.parts();
        this.limits = limits;
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        if (event.values("user").isEmpty() || !DetectorEventFields.isStatement(event)) {
            return;
        }
        boolean isRead = measure.weight == 1 || SampledEvents.contains(event, measure.weight);
        String part = isRead ? parts.apply(event) : "";
        boolean isSampled = SampledEvents.contains(event, SHARE);
        if (part.isEmpty() && !isSampled || DetectorEventFields.hasFailed(event) || basis.isExcepted(event)) {
            return;
        }
        List<String> values = part.isEmpty() ? List.of() : List.of(BoundedText.of(part));
        if (!part.isEmpty() && !event.values("data_class_read").isEmpty()) {
            values = List.of(values.get(0), SENSITIVE);
        }
        observations.accept(basis.observation(
                event, event.actionId(), CountedEvents.userInLog(event), values, isSampled ? SHARE : 0));
    }

    /** The tables that an account accesses in parts, at most 64: those of the longest silence are forgotten. */
    static final class State implements DetectorState {

        private final ObservedPeriod observed = new ObservedPeriod();
        private DailyHistory statements = new DailyHistory();
        private final List<TableParts> tables = new ArrayList<>(1);
        private final RecentActions actions = new RecentActions(RECENT_ACTIONS);

        @Override
        public long latestMicros() {
            return observed.latest();
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            observed.write(out);
            statements.write(out);
            out.writeShort(tables.size());
            for (TableParts each : tables) {
                each.write(out);
            }
            actions.write(out);
        }

        @Override
        public void read(DataInput in) throws IOException {
            byte version = DetectorDefinition.requireVersion(in, WITHOUT_HOURS, VERSION);
            observed.read(in);
            statements = DailyHistory.read(in);
            for (int left = in.readShort(); left > 0; left--) {
                tables.add(TableParts.read(in, version > WITHOUT_HOURS));
            }
            actions.read(in);
        }

        private TableParts of(String part) {
            long hash = ExpiringValueSet.hash(part);
            int oldest = 0;
            for (int i = 0; i < tables.size(); i++) {
                if (tables.get(i).hash == hash) {
                    return tables.get(i);
                }
                oldest = tables.get(i).days.newest() < tables.get(oldest).days.newest() ? i : oldest;
            }
            if (tables.size() == MAX_TABLES) {
                tables.remove(oldest);
            }
            TableParts added = new TableParts(hash);
            tables.add(added);
            return added;
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        if (state.actions.isKnown(observation.actionId())) {
            return true;
        }
        int day = ExpiringValueSet.day(observation.micros());
        state.observed.extend(observation.micros());
        if (observation.amount() > 0 && state.statements.turnTo(day)) {
            state.statements.set(day, state.statements.amount(day) + observation.amount());
        }
        if (!observation.values().isEmpty()) {
            count(state, observation, day, out);
        }
        return true;
    }

    private void count(State state, Observation observation, int day, Consumer<RaisedAlert> out) {
        TableParts of = state.of(observation.values().get(0));
        if (day < of.days.newest() && of.days.newest() != Integer.MIN_VALUE) {
            return;
        }
        of.count(day, ExpiringValueSet.hour(observation.micros()), limits.atLeastOfHour, measure.weight);
        if (of.firedDay == day) {
            return;
        }
        boolean learned = state.observed.hasLasted(limits.learningMicros, observation.micros());
        if (isSlowCopy(state, of, observation, day)) {
            of.firedDay = day;
            out.accept(alertOfDays(observation, of, day));
        } else if (learned && of.today > limits.atLeast) {
            DailyHistory.Baseline past = baseline(state, of, day);
            if (of.today > past.threshold()) {
                of.firedDay = day;
                out.accept(alert(observation, of, past, day));
            }
        }
        if (of.firedDay != day && isUnusualHour(state, of, observation)) {
            of.firedDay = day;
            out.accept(alertOfHour(observation, of));
        }
    }

    /** Hours are many, so half of the learning period is enough for them. */
    private boolean isUnusualHour(State state, TableParts of, Observation observation) {
        return measure != Measure.RANGES
                && of.hasUnusualHour(limits.atLeastOfHour)
                && state.observed.hasLasted(limits.learningMicros / 2, observation.micros());
    }

    /**
     * Returns whether the account takes a table of a data class in parts on several days since a week, and never did before,
     * although it was active for a week. It is reported once in that week.
     */
    private boolean isSlowCopy(State state, TableParts of, Observation observation, int day) {
        boolean isCandidate = measure == Measure.RANGES && observation.values().contains(SENSITIVE);
        if (!isCandidate
                || day - of.firedDay < SLOW_DAYS
                || of.days.amount(day - DailyHistory.DAYS, day - SLOW_DAYS) > 0
                || of.days.amount(day - SLOW_DAYS + 1, day) < limits.atLeast) {
            return false;
        }
        int days = 0;
        int first = day;
        for (int past = day; past > day - SLOW_DAYS; past--) {
            boolean hasParts = of.days.amount(past) > 0;
            days += hasParts ? 1 : 0;
            first = hasParts ? past : first;
        }
        return days >= OWN_DAYS && first - ExpiringValueSet.day(state.observed.first()) >= SLOW_DAYS;
    }

    private RaisedAlert alertOfDays(Observation observation, TableParts of, int day) {
        String part = observation.values().get(0);
        Map<String, String> facts = new TreeMap<>();
        facts.put("part", part);
        facts.put("log", observation.entity().get(3));
        long statements = Math.round(of.days.amount(day - SLOW_DAYS + 1, day));
        facts.put(
                Explanation.FACT,
                String.format(
                        "%s executed about %s statements (%s) %s within a week, on three or more days; none were expected, "
                                + "because it executed none before.",
                        observation.entity().get(2), Explanation.number(statements), part, measure.what));
        return alerts.alert(
                observation,
                part + " since " + day,
                observation.micros(),
                statements,
                List.of(AlertSample.of(observation)),
                facts);
    }

    private RaisedAlert alertOfHour(Observation observation, TableParts of) {
        String part = observation.values().get(0);
        long expected = (long) Math.floor(of.limitOfHour(limits.atLeastOfHour));
        Map<String, String> facts = new TreeMap<>();
        facts.put("threshold", Long.toString(expected));
        facts.put("largest_hour", Long.toString(of.largest));
        facts.put("part", part);
        facts.put("log", observation.entity().get(3));
        facts.put(
                Explanation.FACT,
                String.format(
                        "%s executed %s statements (%s) %s within one hour; at most %s were expected, because the largest of "
                                + "the earlier hours is %s.",
                        observation.entity().get(2),
                        Explanation.number(of.ofHour),
                        part,
                        measure.what,
                        Explanation.number(expected),
                        Explanation.number(of.largest)));
        return alerts.alert(
                observation,
                part + " in " + ExpiringValueSet.hour(observation.micros()),
                observation.micros(),
                of.ofHour,
                List.of(AlertSample.of(observation)),
                facts);
    }

    /** Returns the past of a table, or the limit by the account's statements if it has none. */
    private DailyHistory.Baseline baseline(State state, TableParts of, int day) {
        DailyHistory.Baseline own = of.days.baseline(day, limits.deviations, limits.atLeast);
        if (measure.needsPast && own.days() < MIN_DAYS) {
            return new DailyHistory.Baseline(Double.MAX_VALUE, own.median(), own.days());
        }
        if (own.days() >= OWN_DAYS) {
            // Few people look up many sensitive rows, so the least amount is not doubled for them.
            double atLeast = measure == Measure.RANGES ? limits.atLeast : 0;
            double above = of.days.baseline(day, limits.deviations, atLeast).threshold();
            return new DailyHistory.Baseline(
                    Math.max(limits.atLeast, measure.daysVary * above), own.median(), own.days());
        }
        double statements = state.statements.baseline(day, 0, 0).median();
        return new DailyHistory.Baseline(
                Math.max(own.threshold(), limits.share * statements), own.median(), own.days());
    }

    private RaisedAlert alert(Observation observation, TableParts of, DailyHistory.Baseline past, int day) {
        String part = observation.values().get(0);
        Map<String, String> facts = new TreeMap<>();
        past.describe(facts);
        facts.put("part", part);
        facts.put("log", observation.entity().get(3));
        facts.put(
                Explanation.FACT,
                String.format(
                        "%s executed %s statements (%s) %s on %s; at most %s were expected, because %s.",
                        observation.entity().get(2),
                        Explanation.number(of.today),
                        part,
                        measure.what,
                        Explanation.day(day),
                        Explanation.number(Math.floor(past.threshold())),
                        past.days() == 0
                                ? "it executed none before"
                                : "the median of " + Explanation.number(past.days(), "earlier day") + " is "
                                        + Explanation.number(past.median())));
        return alerts.alert(
                observation,
                part + ' ' + day,
                observation.micros(),
                of.today,
                List.of(AlertSample.of(observation)),
                facts);
    }
}
