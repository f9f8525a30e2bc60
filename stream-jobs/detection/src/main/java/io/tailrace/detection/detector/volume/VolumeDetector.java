package io.tailrace.detection.detector.volume;

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
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.detector.firstseen.ObservationCache;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Detects an hour in which a user has a far higher amount than in the same hour of other weeks: {@link HourlyBaseline}.
 * Fires as soon as the total of the hour is unusual, once per hour.
 */
public final class VolumeDetector extends AbstractDetector<VolumeDetector.State> {

    /** The counted amount. */
    public enum Measure {
        /** Rows that statements sent, if the log contains them. */
        ROWS,
        /** Statements, if the log contains no numbers of rows. */
        STATEMENTS,
        /** Distinct tables. */
        TABLES
    }

    private static final byte OLDEST_VERSION = 1;
    private static final byte VERSION = 2;
    /** Number of hours that are counted exactly at the same time, because events arrive out of order. */
    private static final int MAX_OPEN = 3;
    /** Number of remembered actions, so that an action that arrives twice counts once. */
    private static final int RECENT_ACTIONS = 32;

    private static final int HOURS_PER_DAY = 24;

    private final Measure measure;
    private final HourlyBaseline.Limits limits;
    private final long learningMicros;
    private final ObservationCache recently = new ObservationCache(ExpiringValueSet.HOUR);
    private final DetectorAlertFactory alerts;

    public VolumeDetector(
            DetectorDefinition basis, Measure measure, HourlyBaseline.Limits limits, long learningMicros) {
        super(basis, State::new);
        this.measure = measure;
        this.limits = limits;
        this.learningMicros = learningMicros;
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        if (event.values("user").isEmpty()) {
            return;
        }
        switch (measure) {
            case ROWS -> observeAmount(event, DetectorEventFields.number(event, "rows_sent"), observations);
            case STATEMENTS -> observeStatement(event, observations);
            case TABLES -> observeTables(event, observations);
        }
    }

    private void observeAmount(DetectionEvent event, double amount, Consumer<Observation> observations) {
        if (amount > 0 && !basis.isExcepted(event)) {
            List<String> entity = CountedEvents.userInLog(event);
            observations.accept(basis.observation(event, event.id(), entity, List.of(), CountedEvents.bounded(amount)));
        }
    }

    private void observeStatement(DetectionEvent event, Consumer<Observation> observations) {
        if (CountedEvents.isExecution(event)) {
            observeAmount(event, 1, observations);
        }
    }

    private void observeTables(DetectionEvent event, Consumer<Observation> observations) {
        List<FieldValue> tables = event.values("table");
        if (tables.isEmpty() || DetectorEventFields.hasFailed(event)) {
            return;
        }
        String cluster = DetectorEventFields.text(event, "cluster");
        String instance = DetectorEventFields.text(event, "instance");
        String user = DetectorEventFields.text(event, "user");
        List<String> unseen = new ArrayList<>(0);
        for (int i = 0; i < tables.size(); i++) {
            String table = tables.get(i).text();
            if (recently.isNew(event.micros(), cluster, instance, user, table)) {
                unseen.add(table);
            }
        }
        if (!unseen.isEmpty() && !basis.isExcepted(event)) {
            observations.accept(
                    basis.observation(event, event.id(), List.of(cluster, instance, user), unseen, unseen.size()));
        }
    }

    /** Hourly totals of a user. */
    static final class State implements DetectorState {

        private final ObservedPeriod observed = new ObservedPeriod();
        private HourlyHistory ring = new HourlyHistory();
        private final List<CurrentHour> open = new ArrayList<>(MAX_OPEN);
        private final RecentActions actions = new RecentActions(RECENT_ACTIONS);
        private TablesOfDay today = new TablesOfDay();

        @Override
        public long latestMicros() {
            return observed.latest();
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            observed.write(out);
            ring.write(out);
            out.writeByte(open.size());
            for (CurrentHour hour : open) {
                hour.write(out);
            }
            actions.write(out);
            today.write(out);
        }

        @Override
        public void read(DataInput in) throws IOException {
            byte version = DetectorDefinition.requireVersion(in, OLDEST_VERSION, VERSION);
            observed.read(in);
            ring = HourlyHistory.read(in);
            for (int left = in.readByte(); left > 0; left--) {
                open.add(CurrentHour.read(in));
            }
            actions.read(in);
            today = version == OLDEST_VERSION ? new TablesOfDay() : TablesOfDay.read(in);
        }

        /** Returns the hour if it is open; otherwise null. */
        private CurrentHour hour(int hour) {
            for (CurrentHour each : open) {
                if (each.hour() == hour) {
                    return each;
                }
            }
            return null;
        }

        /** Replaces the hour that was opened first, but not the newest one, so that a backfill does not close it. */
        private void open(CurrentHour hour) {
            if (open.size() == MAX_OPEN) {
                open.remove(open.get(0).hour() == ring.newest() ? 1 : 0);
            }
            open.add(hour);
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        int hour = ExpiringValueSet.hour(observation.micros());
        boolean isSet = measure == Measure.TABLES;
        boolean dayIsUnusual = isSet && applyToDay(state, observation, hour, out);
        if (!isSet && state.actions.isKnown(observation.actionId()) || !state.ring.turnTo(hour)) {
            return true;
        }
        state.observed.extend(hour * ExpiringValueSet.HOUR);
        boolean isClosed = state.hour(hour) == null && state.ring.step(hour) > 0;
        if (isSet && isClosed) {
            // The distinct tables of a closed hour are forgotten, so any of them would count again.
            return true;
        }
        CurrentHour open = openHour(state, hour);
        if (isSet) {
            open.addDistinct(observation);
        } else {
            open.add(observation);
        }
        state.ring.set(hour, open.total());
        if (open.fires() && !dayIsUnusual) {
            out.accept(alert(observation, open));
        }
        return true;
    }

    /** Counts the distinct tables of a day; returns whether the day has just become unusual. */
    private boolean applyToDay(State state, Observation observation, int hour, Consumer<RaisedAlert> out) {
        boolean learned = state.observed.hasLasted(learningMicros, hour * ExpiringValueSet.HOUR);
        if (!state.today.add(Math.floorDiv(hour, HOURS_PER_DAY), observation.values()) || !learned) {
            return false;
        }
        DailyHistory.Baseline past = state.today.baseline(limits.deviations(), limits.atLeast());
        if (!state.today.fires(past)) {
            return false;
        }
        out.accept(alertOfDay(state.today, observation, past));
        return true;
    }

    private RaisedAlert alertOfDay(TablesOfDay today, Observation observation, DailyHistory.Baseline past) {
        Map<String, String> facts = new TreeMap<>();
        facts.put("counted", "tables of the day");
        past.describe(facts);
        facts.put(
                Explanation.FACT,
                String.format(
                        "%s accessed %s tables on %s; at most %s were expected, because the median of %s is %s.",
                        observation.entity().get(2),
                        Explanation.number(today.total()),
                        Explanation.day(today.day()),
                        Explanation.number(past.threshold()),
                        Explanation.number(past.days(), "earlier day"),
                        Explanation.number(past.median())));
        return alerts.alert(
                observation,
                "day " + today.day(),
                today.day() * ExpiringValueSet.DAY,
                Math.round(today.total()),
                List.of(AlertSample.of(observation)),
                facts);
    }

    private CurrentHour openHour(State state, int hour) {
        CurrentHour known = state.hour(hour);
        if (known != null) {
            return known;
        }
        boolean learned = state.observed.hasLasted(learningMicros, hour * ExpiringValueSet.HOUR);
        HourlyBaseline baseline = learned ? HourlyBaseline.of(state.ring, hour, limits) : HourlyBaseline.NONE;
        CurrentHour opened = new CurrentHour(hour, baseline, state.ring.total(hour));
        state.open(opened);
        return opened;
    }

    private RaisedAlert alert(Observation observation, CurrentHour hour) {
        Map<String, String> facts = new TreeMap<>();
        facts.put("counted", measure.name().toLowerCase(Locale.ROOT));
        facts.put("baseline_median", Long.toString(Math.round(hour.baseline().median())));
        facts.put("threshold", Long.toString(Math.round(hour.baseline().threshold())));
        facts.put("baseline_hours", Integer.toString(hour.baseline().hours()));
        facts.put("baseline_of", hour.baseline().seasonal() ? "this hour of other weeks" : "all hours");
        if (observation.entity().size() > 3) {
            facts.put("log", observation.entity().get(3));
        }
        facts.put(Explanation.FACT, explanation(observation, hour));
        List<AlertSample> evidence = hour.evidence();
        evidence.add(AlertSample.of(observation));
        return alerts.alert(
                observation,
                Integer.toString(hour.hour()),
                hour.hour() * ExpiringValueSet.HOUR,
                Math.round(hour.total()),
                evidence,
                facts);
    }

    private String explanation(Observation observation, CurrentHour hour) {
        HourlyBaseline past = hour.baseline();
        return String.format(
                "%s has %s %s in the hour from %s; at most %s were expected, because the median of %s is %s.",
                observation.entity().get(2),
                Explanation.number(hour.total()),
                switch (measure) {
                    case ROWS -> "rows sent";
                    case STATEMENTS -> "statements";
                    case TABLES -> "distinct tables";
                },
                DetectorAlertFactory.time(hour.hour() * ExpiringValueSet.HOUR),
                Explanation.number(past.threshold()),
                past.seasonal()
                        ? Explanation.number(past.hours(), "comparable hour") + " of other weeks"
                        : Explanation.number(past.hours(), "earlier hour"),
                Explanation.number(past.median()));
    }
}
