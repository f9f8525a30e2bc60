package io.tailrace.detection.detector.login;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.AbstractDetector;
import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.detector.firstseen.ObservationCache;
import io.tailrace.detection.detector.location.ClientNetwork;
import io.tailrace.detection.event.DetectionEvent;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Detects the first successful login after refused logins to an account on several days: from a network that itself had
 * them, or from a network that never logged in before, while others guessed. Refused logins that the same network followed
 * by a successful one are typing errors and do not count.
 */
public final class LoginAfterGuessingDetector extends AbstractDetector<LoginAfterGuessingDetector.State> {

    private static final byte VERSION = 1;
    private static final long MINUTE = ExpiringValueSet.HOUR / 60;
    private static final int MAX_SOURCES = 32;
    private static final String REFUSED = "refused";

    private final int minRefused;
    private final long windowMicros;
    private final ClientNetwork network;
    private final ObservationCache recently = new ObservationCache(MINUTE);
    private final DetectorAlertFactory alerts;

    /**
     * @param minRefused number of refused logins from which on a success is reported
     * @param windowMicros how long a refused login counts
     */
    public LoginAfterGuessingDetector(
            DetectorDefinition basis, int minRefused, long windowMicros, ClientNetwork network) {
        super(basis, State::new);
        this.minRefused = minRefused;
        this.windowMicros = windowMicros;
        this.network = network;
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        LoginResult result = LoginResult.of(event);
        if (result == LoginResult.NONE || event.values("user").isEmpty()) {
            return;
        }
        String client = LoginResult.client(event);
        String user = DetectorEventFields.text(event, "user");
        if (client.isEmpty() || user.isEmpty()) {
            return;
        }
        String cluster = DetectorEventFields.cluster(event);
        String instance = DetectorEventFields.instanceAlone(event);
        String from = network.ofClient(client);
        boolean refused = result == LoginResult.REFUSED;
        if ((refused || recently.isNew(event.micros(), cluster, instance, user, from)) && !basis.isExcepted(event)) {
            observations.accept(basis.observation(
                    event, List.of(cluster, instance, user), refused ? List.of(from, REFUSED) : List.of(from)));
        }
    }

    /** The logins from one network. */
    private static final class Source {

        private final long hash;
        /** Refused logins since the last successful one. */
        private int refused;

        private long firstRefused;
        private long lastRefused = Long.MIN_VALUE / 2;
        /** Minute of the last successful login; Long.MIN_VALUE if there was none. */
        private long succeeded = Long.MIN_VALUE;

        Source(long hash) {
            this.hash = hash;
        }

        private boolean isKnown() {
            return succeeded != Long.MIN_VALUE;
        }

        private long latest() {
            return Math.max(lastRefused, isKnown() ? succeeded * MINUTE : Long.MIN_VALUE);
        }

        private int refusedSince(long micros) {
            return lastRefused >= micros ? refused : 0;
        }
    }

    /** The logins to an account, by network. */
    static final class State implements DetectorState {

        private long latest = Long.MIN_VALUE;
        private final List<Source> sources = new ArrayList<>(2);
        private RecentRefusals recent = new RecentRefusals();

        @Override
        public long latestMicros() {
            return latest;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            out.writeLong(latest);
            out.writeByte(sources.size());
            for (Source source : sources) {
                out.writeLong(source.hash);
                out.writeInt(source.refused);
                out.writeLong(source.firstRefused);
                out.writeLong(source.lastRefused);
                out.writeLong(source.succeeded);
            }
            recent.write(out);
        }

        @Override
        public void read(DataInput in) throws IOException {
            DetectorDefinition.requireVersion(in, VERSION);
            latest = in.readLong();
            for (int left = in.readByte(); left > 0; left--) {
                Source source = new Source(in.readLong());
                source.refused = in.readInt();
                source.firstRefused = in.readLong();
                source.lastRefused = in.readLong();
                source.succeeded = in.readLong();
                sources.add(source);
            }
            recent = RecentRefusals.read(in);
        }

        private Source source(long hash) {
            for (Source each : sources) {
                if (each.hash == hash) {
                    return each;
                }
            }
            Source added = new Source(hash);
            if (sources.size() == MAX_SOURCES) {
                sources.remove(leastUseful());
            }
            sources.add(added);
            return added;
        }

        /** A flood of networks that only guess must not displace those that log in. */
        private int leastUseful() {
            int least = 0;
            for (int i = 1; i < sources.size(); i++) {
                Source known = sources.get(least);
                Source each = sources.get(i);
                boolean sooner = each.isKnown() == known.isKnown() ? each.latest() < known.latest() : known.isKnown();
                least = sooner ? i : least;
            }
            return least;
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        long micros = observation.micros();
        state.latest = Math.max(state.latest, micros / MINUTE * MINUTE);
        long hash = ExpiringValueSet.hash(observation.values().get(0));
        Source source = state.source(hash);
        if (observation.values().size() > 1) {
            if (state.recent.add(micros, hash, ExpiringValueSet.hash(observation.actionId()))) {
                refuse(source, micros);
            }
            return true;
        }
        // Only the first success of a minute is certain to arrive, so others must change nothing.
        if (source.succeeded >= Math.floorDiv(micros, MINUTE)) {
            return false;
        }
        report(state, source, observation, out);
        source.succeeded = Math.floorDiv(micros, MINUTE);
        source.refused = 0;
        return true;
    }

    private void refuse(Source source, long micros) {
        boolean isNew = source.refused == 0 || micros - source.lastRefused > windowMicros;
        source.firstRefused = isNew ? micros : Math.min(source.firstRefused, micros);
        source.refused = isNew ? 1 : source.refused + 1;
        source.lastRefused = Math.max(source.lastRefused, micros);
    }

    private void report(State state, Source source, Observation observation, Consumer<RaisedAlert> out) {
        long since = observation.micros() - windowMicros;
        int own = source.refusedSince(since);
        boolean acrossDays = own >= minRefused && source.lastRefused - source.firstRefused >= ExpiringValueSet.DAY;
        // login_after_slow_guessing reports twelve within a day.
        if (acrossDays && !state.recent.isFullOf(source.hash, observation.micros())) {
            out.accept(alert(state, source, observation, own));
            return;
        }
        boolean hasKnown = state.sources.stream().anyMatch(Source::isKnown);
        int all = state.sources.stream()
                .mapToInt(each -> each.refusedSince(since))
                .sum();
        if (!source.isKnown() && hasKnown && own < minRefused && all - own >= minRefused) {
            out.accept(alert(state, source, observation, all));
        }
    }

    private RaisedAlert alert(State state, Source source, Observation observation, int refused) {
        long since = observation.micros() - windowMicros;
        boolean own = source.refusedSince(since) == refused;
        List<Source> guessing = state.sources.stream()
                .filter(each -> own ? each == source : each.refusedSince(since) > 0)
                .toList();
        long first =
                guessing.stream().mapToLong(each -> each.firstRefused).min().orElse(observation.micros());
        Map<String, String> facts = new TreeMap<>();
        facts.put("refused", Integer.toString(refused));
        facts.put("threshold", Integer.toString(minRefused));
        facts.put("networks", Integer.toString(guessing.size()));
        facts.put("refused_since", DetectorAlertFactory.time(first));
        facts.put("network", observation.values().get(0));
        facts.put(
                Explanation.FACT,
                String.format(
                        "%s logged in from %s after %s since %s from %s; fewer than %d were expected, and %s.",
                        observation.entity().get(2),
                        observation.values().get(0),
                        Explanation.number(refused, "refused login"),
                        Explanation.day(Math.floorDiv(first, ExpiringValueSet.DAY)),
                        own ? "this network" : Explanation.number(guessing.size(), "network"),
                        minRefused,
                        own
                                ? "none of them was followed by a successful one"
                                : "the account never logged in from this network before"));
        return alerts.alert(
                observation,
                Long.toString(first / MINUTE),
                first,
                refused,
                List.of(AlertSample.of(observation)),
                facts);
    }
}
