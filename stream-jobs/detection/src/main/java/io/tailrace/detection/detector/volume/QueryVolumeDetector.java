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
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.flag.EventFlag;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Detects a class of statements that sends far more rows, or runs far more often, in an hour or a day than usual for the
 * account: paging, or many small reads. Small statements are sampled by their event ids, so the detector costs little.
 */
public final class QueryVolumeDetector extends AbstractDetector<QueryVolumeDetector.State> {

    /** The counted amount. */
    public enum Measure {
        /** Rows that statements sent, if the log contains them. */
        ROWS("rows"),
        /** Executions, if the log contains no numbers of rows. */
        STATEMENTS("executions");

        private final String noun;

        Measure(String noun) {
            this.noun = noun;
        }
    }

    /**
     * Limits of usual amounts.
     *
     * @param deviations number of deviations from the median
     * @param perHour amount of an hour up to which no hour is unusual
     * @param perDay the same for a day
     * @param learningMicros how long an account is learned
     */
    public record Limits(double deviations, double perHour, double perDay, long learningMicros) {

        public static Limits of(DetectorOptions settings, int perHour, int perDay) {
            return new Limits(
                    settings.number("deviations", 6, 1, 100),
                    settings.number("min_amount", perHour, 1, 1e12),
                    settings.number("min_amount_day", perDay, 1, 1e12),
                    settings.days("learning", 14));
        }
    }

    private static final byte OLDEST_VERSION = 1;
    private static final byte VERSION = 2;
    private static final int SHARE = 32;
    private static final int MAX_CLASSES = 128;
    private static final int RECENT_ACTIONS = 32;
    /** A class of statements has a past of its own from so many days on. */
    private static final int OWN_DAYS = 3;
    /** The busiest hours of days differ more than the days. */
    private static final double HOURS_VARY = 2;
    /** Share of the account's classes that usually have less: a new class is compared with the larger ones. */
    private static final double PEERS = 0.9;

    private static final double ABOVE_PEERS = 2;
    /** Limits of rows without a data class, which jobs copy more often, as a multiple of the others. */
    private static final double WITHOUT_CLASS = 2;

    private static final String SENSITIVE = "sensitive";
    private static final Set<String> INCOMPLETE =
            Set.of(EventFlag.TABLES_INCOMPLETE.wireName(), EventFlag.TRUNCATED.wireName());

    private static final int NEVER = Integer.MIN_VALUE / 2;

    private final Measure measure;
    private final Limits limits;
    private final DetectorAlertFactory alerts;
    private final DetectorAlertFactory further;

    public QueryVolumeDetector(DetectorDefinition basis, Measure measure, Limits limits) {
        super(basis, State::new);
        this.measure = measure;
        this.limits = limits;
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
        this.further = DetectorAlertFactory.ofUsers(basis.header().at(Level.LOW));
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        double amount = measure == Measure.ROWS ? rows(event) : executions(event);
        if (amount <= 0) {
            return;
        }
        List<FieldValue> queries = event.values("query_id");
        if (queries.isEmpty() || event.values("user").isEmpty() || basis.isExcepted(event)) {
            return;
        }
        List<String> entity = CountedEvents.userInLog(event);
        String query = DetectorEventFields.text(event, "query_id");
        List<String> values = mayBeSensitive(event) ? List.of(query, SENSITIVE) : List.of(query);
        observations.accept(basis.observation(event, event.id(), entity, values, CountedEvents.bounded(amount)));
    }

    /** Returns whether the rows belong to a data class, or the event does not name all of their tables. */
    private boolean mayBeSensitive(DetectionEvent event) {
        return measure != Measure.ROWS
                || !event.values("data_access").isEmpty() // known or unknown classes
                || event.values("table").isEmpty()
                || event.values("flag").stream().anyMatch(flag -> INCOMPLETE.contains(flag.text()));
    }

    private static double rows(DetectionEvent event) {
        double rows = DetectorEventFields.number(event, "rows_sent");
        if (!SampledEvents.containsRows(event, rows, SHARE)) {
            return 0;
        }
        return rows >= SampledEvents.ALL_FROM_ROWS ? rows : rows * SHARE;
    }

    private static double executions(DetectionEvent event) {
        return SampledEvents.contains(event, SHARE) && CountedEvents.isExecution(event) ? SHARE : 0;
    }

    /** The amounts of one class of statements. */
    private static final class QueryClass {

        private final long hash;
        private DailyHistory days = new DailyHistory();
        private DailyHistory peaks = new DailyHistory();
        private int day = NEVER;
        private int hour = NEVER;
        private float today;
        private float thisHour;
        private float peak;
        private int firedDay = NEVER;
        /** Amounts of this day up to which the thresholds were not exceeded, so that they are not computed again. */
        private float dayLimit;

        private float hourLimit;

        QueryClass(long hash) {
            this.hash = hash;
        }

        /** Counts an amount; returns false if its hour is over. */
        private boolean count(int of, double amount) {
            if (of < hour) {
                return false;
            }
            int ofDay = Math.floorDiv(of, 24);
            if (ofDay != day) {
                day = ofDay;
                today = 0;
                peak = 0;
                dayLimit = 0;
                hourLimit = 0;
            }
            thisHour = of == hour ? thisHour : 0;
            hour = of;
            today += (float) amount;
            thisHour += (float) amount;
            peak = Math.max(peak, thisHour);
            days.turnTo(day);
            peaks.turnTo(day);
            days.set(day, today);
            peaks.set(day, peak);
            return true;
        }

        private void write(DataOutput out) throws IOException {
            out.writeLong(hash);
            days.write(out);
            peaks.write(out);
            out.writeInt(day);
            out.writeInt(hour);
            out.writeFloat(today);
            out.writeFloat(thisHour);
            out.writeFloat(peak);
            out.writeInt(firedDay);
            out.writeFloat(dayLimit);
            out.writeFloat(hourLimit);
        }

        private static QueryClass read(DataInput in) throws IOException {
            QueryClass read = new QueryClass(in.readLong());
            read.days = DailyHistory.read(in);
            read.peaks = DailyHistory.read(in);
            read.day = in.readInt();
            read.hour = in.readInt();
            read.today = in.readFloat();
            read.thisHour = in.readFloat();
            read.peak = in.readFloat();
            read.firedDay = in.readInt();
            read.dayLimit = in.readFloat();
            read.hourLimit = in.readFloat();
            return read;
        }
    }

    /** The classes of statements of an account, at most 128: those that were not seen for longest are forgotten. */
    static final class State implements DetectorState {

        private final ObservedPeriod observed = new ObservedPeriod();
        private final List<QueryClass> classes = new ArrayList<>(4);
        private final RecentActions actions = new RecentActions(RECENT_ACTIONS);
        /** Time of the latest alert about any class that did not repeat another. */
        private long firedMicros = Long.MIN_VALUE / 2;

        @Override
        public long latestMicros() {
            return observed.latest();
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            observed.write(out);
            out.writeShort(classes.size());
            for (QueryClass each : classes) {
                each.write(out);
            }
            actions.write(out);
            out.writeLong(firedMicros);
        }

        @Override
        public void read(DataInput in) throws IOException {
            byte version = DetectorDefinition.requireVersion(in, OLDEST_VERSION, VERSION);
            observed.read(in);
            for (int left = in.readShort(); left > 0; left--) {
                classes.add(QueryClass.read(in));
            }
            actions.read(in);
            firedMicros = version == OLDEST_VERSION ? firedMicros : in.readLong();
        }

        private QueryClass of(String queryId, int day) {
            long hash = ExpiringValueSet.hash(queryId);
            for (QueryClass each : classes) {
                if (each.hash == hash) {
                    return each;
                }
            }
            if (classes.size() == MAX_CLASSES) {
                classes.remove(leastUseful(day));
            }
            QueryClass added = new QueryClass(hash);
            classes.add(added);
            return added;
        }

        /** Many small classes must not displace a large one, nor one that has grown today. */
        private int leastUseful(int day) {
            int least = 0;
            double smallest = Double.MAX_VALUE;
            for (int i = 0; i < classes.size(); i++) {
                QueryClass each = classes.get(i);
                double recent =
                        each.day == day ? each.today : each.days.amount(each.day) / (1 + Math.abs(day - each.day));
                if (recent < smallest) {
                    smallest = recent;
                    least = i;
                }
            }
            return least;
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        if (state.actions.isKnown(observation.actionId())) {
            return true;
        }
        int hour = ExpiringValueSet.hour(observation.micros());
        long micros = hour * ExpiringValueSet.HOUR;
        state.observed.extend(micros);
        QueryClass of = state.of(observation.values().get(0), Math.floorDiv(hour, 24));
        boolean learned = state.observed.hasLasted(limits.learningMicros, micros);
        if (of.count(hour, observation.amount()) && learned && of.firedDay != of.day) {
            compare(state, of, observation, out);
        }
        return true;
    }

    private void compare(State state, QueryClass of, Observation observation, Consumer<RaisedAlert> out) {
        double factor = observation.values().contains(SENSITIVE) ? 1 : WITHOUT_CLASS;
        if (of.today > Math.max(factor * limits.perDay, of.dayLimit)) {
            DailyHistory.Baseline day = baseline(state, of, true, factor);
            if (of.today > day.threshold()) {
                out.accept(alert(state, of, observation, of.today, day, 24));
                return;
            }
            of.dayLimit = (float) day.threshold();
        }
        if (of.thisHour > Math.max(factor * limits.perHour, of.hourLimit)) {
            DailyHistory.Baseline hour = baseline(state, of, false, factor);
            if (of.thisHour > hour.threshold()) {
                out.accept(alert(state, of, observation, of.thisHour, hour, 1));
                return;
            }
            of.hourLimit = (float) hour.threshold();
        }
    }

    /** Returns the past of a class, or that of the account's larger classes if it has none. */
    private DailyHistory.Baseline baseline(State state, QueryClass of, boolean ofDays, double factor) {
        double atLeast = factor * (ofDays ? limits.perDay : limits.perHour);
        DailyHistory.Baseline own = past(of, of.day, ofDays, atLeast);
        if (own.days() >= OWN_DAYS) {
            double vary = ofDays ? 1 : HOURS_VARY;
            return new DailyHistory.Baseline(vary * own.threshold(), own.median(), own.days());
        }
        double[] medians = state.classes.stream()
                .filter(each -> each != of)
                .mapToDouble(each -> past(each, of.day, ofDays, 0).median())
                .filter(median -> median > 0)
                .sorted()
                .toArray();
        double large = medians.length == 0 ? 0 : medians[(int) Math.min(medians.length - 1, PEERS * medians.length)];
        return new DailyHistory.Baseline(Math.max(own.threshold(), ABOVE_PEERS * large), large, 0);
    }

    private DailyHistory.Baseline past(QueryClass of, int day, boolean ofDays, double atLeast) {
        return (ofDays ? of.days : of.peaks).baseline(day, limits.deviations, atLeast);
    }

    /** A job that reads several tables is reported once an hour; further alerts are low, except for sensitive rows. */
    private DetectorAlertFactory factory(State state, Observation observation) {
        long since = observation.micros() - state.firedMicros;
        boolean repeats = !observation.values().contains(SENSITIVE) && since >= 0 && since < ExpiringValueSet.HOUR;
        state.firedMicros = repeats ? state.firedMicros : observation.micros();
        return repeats ? further : alerts;
    }

    private RaisedAlert alert(
            State state, QueryClass of, Observation observation, double amount, DailyHistory.Baseline past, int hours) {
        of.firedDay = of.day;
        String queryId = observation.values().get(0);
        Map<String, String> facts = new TreeMap<>();
        facts.put("counted", measure.noun);
        facts.put("query_id", queryId);
        facts.put("window_hours", Integer.toString(hours));
        past.describe(facts);
        facts.put("log", observation.entity().get(3));
        facts.put(
                Explanation.FACT,
                String.format(
                        "About %s %s of one statement of %s within %s; at most %s were expected, because %s.",
                        Explanation.number(amount),
                        measure.noun,
                        observation.entity().get(2),
                        hours == 1 ? "an hour" : "the day " + Explanation.day(of.day),
                        Explanation.number(past.threshold()),
                        because(past, hours)));
        long from = hours == 1 ? of.hour * ExpiringValueSet.HOUR : of.day * ExpiringValueSet.DAY;
        return factory(state, observation)
                .alert(
                        observation,
                        queryId + ' ' + of.day,
                        from,
                        Math.round(amount),
                        List.of(AlertSample.of(observation)),
                        facts);
    }

    private static String because(DailyHistory.Baseline past, int hours) {
        String median = Explanation.number(past.median());
        if (past.days() == 0) {
            return "it is new and the larger ones of the account have about " + median;
        }
        return "the median of " + Explanation.number(past.days(), "earlier day")
                + (hours == 1 ? " is " + median + " in the busiest hour" : " is " + median);
    }
}
