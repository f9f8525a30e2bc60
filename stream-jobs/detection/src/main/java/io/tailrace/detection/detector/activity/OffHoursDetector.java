package io.tailrace.detection.detector.activity;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.AbstractDetector;
import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorOptions;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.detector.firstseen.ObservationCache;
import io.tailrace.detection.detector.firstseen.UserActivityObserver;
import io.tailrace.detection.event.DetectionEvent;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Detects activity outside of the usual hours of a user. The state holds for each hour of the week in which of the last
 * 8 weeks the user was active; an hour next to an active one counts as usual. Users without regular hours cause no
 * alerts: the detector measures on their past how often it would have fired.
 */
public final class OffHoursDetector extends AbstractDetector<OffHoursDetector.State> {

    private static final byte VERSION = 1;
    private static final int HOURS = 168;
    private static final int WEEKS = 8;
    private static final int SAME_NIGHT = 12;

    private final Rhythm rhythm;
    private final ObservationCache recently = new ObservationCache(ExpiringValueSet.HOUR);
    private final DetectorAlertFactory alerts;

    /**
     * Defines regular hours.
     *
     * @param weeks minimum number of weeks with activity before the detector raises alerts
     * @param regularity minimum share of the user's hours that other weeks predict
     * @param maxActiveShare maximum share of the week in which the user is expected
     */
    public record Rhythm(int weeks, double regularity, double maxActiveShare) {

        public static Rhythm of(DetectorOptions settings) {
            return new Rhythm(
                    settings.whole("weeks", 4, 2, WEEKS - 1),
                    settings.number("regularity", 0.95, 0.5, 1),
                    settings.number("max_active_share", 0.6, 0.05, 1));
        }
    }

    public OffHoursDetector(DetectorDefinition basis, Rhythm rhythm) {
        super(basis, State::new);
        this.rhythm = rhythm;
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        UserActivityObserver.observe(event, basis, recently, observations);
    }

    /** The weeks in which a user was active, by hour of the week: one bit for each of the last weeks. */
    static final class State implements DetectorState {

        private final byte[] hours = new byte[HOURS];
        private int newestWeek = Integer.MIN_VALUE;
        private long latest = Long.MIN_VALUE;
        private int firedHour = Integer.MIN_VALUE;

        @Override
        public long latestMicros() {
            return latest;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            out.write(hours);
            out.writeInt(newestWeek);
            out.writeLong(latest);
            out.writeInt(firedHour);
        }

        @Override
        public void read(DataInput in) throws IOException {
            DetectorDefinition.requireVersion(in, VERSION);
            in.readFully(hours);
            newestWeek = in.readInt();
            latest = in.readLong();
            firedHour = in.readInt();
        }

        /** Clears the weeks that a new one replaces; returns false if the week is too old. */
        private boolean turnTo(int week) {
            if (newestWeek == Integer.MIN_VALUE) {
                newestWeek = week;
            }
            for (int passed = Math.max(newestWeek + 1, week - WEEKS + 1); passed <= week; passed++) {
                int keep = ~bit(passed);
                for (int i = 0; i < HOURS; i++) {
                    hours[i] &= (byte) keep;
                }
            }
            newestWeek = Math.max(newestWeek, week);
            return week > newestWeek - WEEKS;
        }

        /** Returns the weeks in which the user was active in this hour of the week or next to it. */
        private int around(int hour) {
            return (hours[(hour + HOURS - 1) % HOURS] | hours[hour] | hours[(hour + 1) % HOURS]) & 0xff;
        }

        private int weeks() {
            int weeks = 0;
            for (byte hour : hours) {
                weeks |= hour;
            }
            return weeks & 0xff;
        }
    }

    private static int bit(int week) {
        return 1 << Math.floorMod(week, WEEKS);
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        int hour = ExpiringValueSet.hour(observation.micros());
        int week = Math.floorDiv(hour, HOURS);
        int hourOfWeek = Math.floorMod(hour, HOURS);
        state.latest = Math.max(state.latest, hour * ExpiringValueSet.HOUR);
        if (!state.turnTo(week) || (state.hours[hourOfWeek] & bit(week)) != 0) {
            return true;
        }
        int others = state.weeks() & ~bit(week);
        if ((state.around(hourOfWeek) & ~bit(week)) == 0
                && Math.abs((long) hour - state.firedHour) >= SAME_NIGHT
                && keepsHours(state, others)) {
            state.firedHour = hour;
            out.accept(alert(observation, hour, Integer.bitCount(others)));
        }
        state.hours[hourOfWeek] |= (byte) bit(week);
        return true;
    }

    private boolean keepsHours(State state, int others) {
        if (Integer.bitCount(others) < rhythm.weeks) {
            return false;
        }
        int active = 0;
        int expected = 0;
        int wide = 0;
        for (int hour = 0; hour < HOURS; hour++) {
            int around = state.around(hour) & others;
            int weeks = state.hours[hour] & others;
            wide += around != 0 ? 1 : 0;
            active += Integer.bitCount(weeks);
            expected += Integer.bitCount(around) > 1 ? Integer.bitCount(weeks) : 0;
        }
        return wide <= rhythm.maxActiveShare * HOURS && expected >= rhythm.regularity * active;
    }

    private RaisedAlert alert(Observation observation, int hour, int weeks) {
        return alerts.alert(
                observation,
                Integer.toString(hour),
                observation.micros(),
                1,
                List.of(AlertSample.of(observation)),
                Map.of(
                        "hour_of_week",
                        hourOfWeek(hour),
                        "weeks_known",
                        Integer.toString(weeks),
                        Explanation.FACT,
                        String.format(
                                "%s is active on %s; none was expected, because the account was not active within an hour"
                                        + " of it in any of %s with activity.",
                                observation.entity().get(2), hourOfWeek(hour), Explanation.number(weeks, "week"))));
    }

    /** Formats an hour of the week, such as SATURDAY 03:00 UTC. */
    private static String hourOfWeek(int hour) {
        OffsetDateTime time = Instant.ofEpochSecond(hour * 3600L).atOffset(ZoneOffset.UTC);
        return time.getDayOfWeek() + String.format(" %02d:00 UTC", time.getHour());
    }
}
