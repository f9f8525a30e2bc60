package io.tailrace.detection.detector.location;

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
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Detects a user at two places that exclude each other. Pairs of places between which an account regularly alternates,
 * as accounts of applications do, are learned, so each pair is reported once.
 */
public final class ImpossibleTravelDetector extends AbstractDetector<ImpossibleTravelDetector.State> {

    private static final byte VERSION = 1;
    private static final int MAX_PLACES = 4;
    private static final int MAX_PAIRS = 64;
    private static final long MINUTE = 60_000_000L;
    private static final double HOUR = 3.6e9;

    private final Function<String, Optional<GeoLocation>> places;
    private final BiPredicate<Visit, Visit> impossible;
    private final long learningMicros;
    private final ObservationCache recently = new ObservationCache(MINUTE);
    private final DetectorAlertFactory alerts;

    /**
     * @param places maps addresses to places
     * @param impossible returns whether one person cannot make both visits
     */
    public ImpossibleTravelDetector(
            DetectorDefinition basis,
            Function<String, Optional<GeoLocation>> places,
            BiPredicate<Visit, Visit> impossible,
            long learningMicros) {
        super(basis, State::new);
        this.places = places;
        this.impossible = impossible;
        this.learningMicros = learningMicros;
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
    }

    /** The presence of a user at a place. */
    record Visit(GeoLocation place, String ip, AlertSample evidence) {

        private static Visit of(Observation observation) {
            List<String> values = observation.values();
            GeoLocation place = new GeoLocation(
                    values.get(1), Double.parseDouble(values.get(2)), Double.parseDouble(values.get(3)));
            return new Visit(place, values.get(0), AlertSample.of(observation).shortened());
        }

        private double hoursTo(Visit other) {
            return Math.abs(other.evidence.micros() - evidence.micros()) / HOUR;
        }

        private void write(DataOutput out) throws IOException {
            place.write(out);
            out.writeUTF(ip);
            evidence.write(out);
        }

        private static Visit read(DataInput in) throws IOException {
            return new Visit(GeoLocation.read(in), in.readUTF(), AlertSample.read(in));
        }
    }

    /**
     * Returns a test whether both visits require travel faster than a speed.
     *
     * @param kilometresPerHour highest possible speed
     * @param minKilometres distance below which two places count as one, because GeoIP is not exact
     */
    public static BiPredicate<Visit, Visit> fasterThan(double kilometresPerHour, double minKilometres) {
        return (one, other) -> {
            double distance = one.place.kilometresTo(other.place);
            return distance >= minKilometres && distance > kilometresPerHour * one.hoursTo(other);
        };
    }

    /** Returns a test whether two visits are to different places within a time. */
    public static BiPredicate<Visit, Visit> within(long micros) {
        return (one, other) -> Math.abs(one.evidence.micros() - other.evidence.micros()) <= micros;
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        if (event.values("user").isEmpty()
                || event.values("src_ip").isEmpty()
                || !DetectorEventFields.isActivity(event)) {
            return;
        }
        String cluster = DetectorEventFields.cluster(event);
        String instance = DetectorEventFields.instanceAlone(event);
        String user = DetectorEventFields.text(event, "user");
        String ip = DetectorEventFields.text(event, "src_ip");
        if (!recently.isNew(event.micros(), cluster, instance, user, ip) || basis.isExcepted(event)) {
            return;
        }
        places.apply(ip).ifPresent(place -> {
            List<String> values =
                    List.of(ip, place.label(), Double.toString(place.latitude()), Double.toString(place.longitude()));
            observations.accept(basis.observation(event, List.of(cluster, instance, user), values));
        });
    }

    /** The last place of a user, and the pairs of places between which it alternates. */
    static final class State implements DetectorState {

        private final ObservedPeriod observed = new ObservedPeriod();
        private final List<Visit> visits = new ArrayList<>(MAX_PLACES);
        private ExpiringValueSet pairs = new ExpiringValueSet();

        @Override
        public long latestMicros() {
            return observed.latest();
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            observed.write(out);
            out.writeByte(visits.size());
            for (Visit visit : visits) {
                visit.write(out);
            }
            pairs.write(out);
        }

        @Override
        public void read(DataInput in) throws IOException {
            DetectorDefinition.requireVersion(in, VERSION);
            observed.read(in);
            for (int left = in.readByte(); left > 0; left--) {
                visits.add(Visit.read(in));
            }
            pairs = ExpiringValueSet.read(in);
        }

        /** Only the first observation of a minute is certain to arrive, so others must change nothing. */
        private boolean knows(Visit visit) {
            for (Visit known : visits) {
                long minute = Math.floorDiv(known.evidence.micros(), MINUTE);
                if (known.ip.equals(visit.ip) && minute == Math.floorDiv(visit.evidence.micros(), MINUTE)) {
                    return true;
                }
            }
            return false;
        }

        private void keep(Visit visit) {
            visits.removeIf(other -> other.place.label().equals(visit.place.label())
                    && other.evidence.micros() <= visit.evidence.micros());
            if (visits.size() == MAX_PLACES) {
                visits.remove(0);
            }
            visits.add(visit);
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        Visit visit = Visit.of(observation);
        if (state.knows(visit)) {
            return false;
        }
        state.observed.extend(observation.micros());
        for (Visit other : state.visits) {
            if (!other.place.label().equals(visit.place.label()) && impossible.test(other, visit)) {
                meet(state, other, visit, observation, out);
            }
        }
        state.keep(visit);
        return true;
    }

    private void meet(State state, Visit one, Visit other, Observation observation, Consumer<RaisedAlert> out) {
        boolean ordered = one.place.label().compareTo(other.place.label()) < 0;
        String pair = (ordered ? one : other).place.label() + '\u001f' + (ordered ? other : one).place.label();
        long hash = ExpiringValueSet.hash(pair);
        int hour = ExpiringValueSet.hour(observation.micros());
        int known = state.pairs.find(hash);
        if (known >= 0) {
            state.pairs.touch(known, hour);
            return;
        }
        state.pairs.add(hash, hour, MAX_PAIRS);
        if (state.observed.hasLasted(learningMicros, observation.micros())) {
            out.accept(alert(pair, one, other, observation));
        }
    }

    private RaisedAlert alert(String pair, Visit one, Visit other, Observation observation) {
        Map<String, String> facts = new TreeMap<>();
        facts.put("src_ip", other.ip);
        facts.put("place", other.place.label());
        facts.put("other_ip", one.ip);
        facts.put("other_place", one.place.label());
        facts.put("minutes_apart", Long.toString(Math.round(one.hoursTo(other) * 60)));
        double distance = one.place.kilometresTo(other.place);
        if (!Double.isNaN(distance)) {
            facts.put("kilometres", Long.toString(Math.round(distance)));
        }
        facts.put(
                Explanation.FACT,
                String.format(
                        "%s is active in %s and in %s within %s minutes; one of them was expected.",
                        observation.entity().get(2),
                        one.place.label(),
                        other.place.label(),
                        facts.get("minutes_apart")));
        long from = Math.min(one.evidence.micros(), other.evidence.micros());
        String what = ExpiringValueSet.day(observation.micros()) + " " + pair;
        return alerts.alert(observation, what, from, 2, List.of(one.evidence, AlertSample.of(observation)), facts);
    }
}
