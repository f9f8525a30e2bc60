package io.tailrace.detection.detector.login;

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
import io.tailrace.detection.detector.firstseen.ObservationCache;
import io.tailrace.detection.detector.location.ClientNetwork;
import io.tailrace.detection.detector.volume.CardinalityEstimator;
import io.tailrace.detection.detector.volume.DailyHistory;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.Level;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Counts refused logins per account, client and source network over a day and over seven days, and compares with the past
 * of the same entity. It is silent on days on which a rule of minutes reports the entity.
 */
public final class LoginFailuresDetector extends AbstractDetector<LoginFailuresDetector.State> {

    /** What is counted. The names are stored in state and alerts. */
    private enum Kind {
        ACCOUNT("user", "account", "client"),
        CLIENT("host", "client", "account"),
        NETWORK("network", "network", "client");

        private final String field;
        private final String noun;
        private final String others;

        Kind(String field, String noun, String others) {
            this.field = field;
            this.noun = noun;
            this.others = others;
        }
    }

    /**
     * Limits of usual days.
     *
     * @param deviations number of deviations from the median
     * @param perDay number of refused logins in a day up to which no day is unusual
     * @param perWeek the same for seven days
     * @param others number of accounts of a client, or clients of a network, from which on it is reported itself
     * @param learningMicros how long a client or network with successful logins is learned
     */
    public record Limits(double deviations, double perDay, double perWeek, int others, long learningMicros) {

        public static Limits of(DetectorOptions settings) {
            return new Limits(
                    settings.number("deviations", 6, 1, 100),
                    settings.whole("min_amount", 8, 1, 1_000_000),
                    settings.whole("min_amount_week", 20, 1, 1_000_000),
                    settings.whole("min_distinct", 3, 1, 64),
                    settings.days("learning", 14));
        }
    }

    private static final byte OLDEST_VERSION = 1;
    private static final byte WITHOUT_LOGINS = 2;
    private static final byte VERSION = 3;
    /** Second value of the observation of a successful login of an account. */
    private static final String SUCCEEDED = "succeeded";

    private static final int WEEK = 7;
    /** Number of refused logins within ten minutes that count: guessing that is faster is reported by rules. */
    private static final int PER_TEN_MINUTES = 5;

    /** Limit of a day on which an account is refused at familiar clients only, as a multiple of the usual one. */
    private static final int AT_FAMILIAR_CLIENTS = 2;

    private static final int NEVER = Integer.MIN_VALUE / 2;

    private final Limits limits;
    private final ClientNetwork network;
    private final ObservationCache recently = new ObservationCache(ExpiringValueSet.HOUR);
    private final Map<Kind, DetectorAlertFactory> alerts = new EnumMap<>(Kind.class);
    private final DetectorAlertFactory ofOwnClients;

    public LoginFailuresDetector(DetectorDefinition basis, Limits limits, ClientNetwork network) {
        super(basis, State::new);
        this.limits = limits;
        this.network = network;
        for (Kind kind : Kind.values()) {
            alerts.put(kind, new DetectorAlertFactory(basis.header(), List.of("cluster", "instance", kind.field)));
        }
        ofOwnClients = new DetectorAlertFactory(
                basis.header().at(Level.LOW), List.of("cluster", "instance", Kind.ACCOUNT.field));
    }

    @Override
    public Set<String> replacedRules() {
        return Set.of("slow_guessing", "slow_distributed_guessing");
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        LoginResult result = LoginResult.of(event);
        if (result == LoginResult.NONE) {
            return;
        }
        String client = LoginResult.client(event);
        if (result == LoginResult.REFUSED) {
            observeRefusal(event, client, observations);
        } else if (!client.isEmpty()) {
            observeSuccess(event, client, observations);
        }
    }

    private void observeRefusal(DetectionEvent event, String client, Consumer<Observation> observations) {
        if (basis.isExcepted(event)) {
            return;
        }
        String user = DetectorEventFields.text(event, "user");
        if (!user.isEmpty()) {
            observations.accept(basis.observation(event, entity(event, Kind.ACCOUNT, user), List.of(client)));
        }
        if (!client.isEmpty()) {
            observations.accept(basis.observation(event, entity(event, Kind.CLIENT, client), List.of(user)));
        }
        String of = network.ofClient(client);
        if (!of.equals(client)) {
            observations.accept(basis.observation(event, entity(event, Kind.NETWORK, of), List.of(client, user)));
        }
    }

    /** A successful login shows that a client and its network are ordinary ones, which mistype passwords. */
    private void observeSuccess(DetectionEvent event, String client, Consumer<Observation> observations) {
        String cluster = DetectorEventFields.cluster(event);
        String instance = DetectorEventFields.instanceAlone(event);
        String user = DetectorEventFields.text(event, "user");
        if (!user.isEmpty()
                && recently.isNew(event.micros(), cluster, instance, client, user)
                && !basis.isExcepted(event)) {
            observations.accept(
                    basis.observation(event, entity(event, Kind.ACCOUNT, user), List.of(client, SUCCEEDED)));
        }
        if (recently.isNew(event.micros(), cluster, instance, client) && !basis.isExcepted(event)) {
            observations.accept(basis.observation(event, entity(event, Kind.CLIENT, client), List.of()));
            String of = network.ofClient(client);
            if (!of.equals(client)) {
                observations.accept(basis.observation(event, entity(event, Kind.NETWORK, of), List.of()));
            }
        }
    }

    private static List<String> entity(DetectionEvent event, Kind kind, String name) {
        return List.of(DetectorEventFields.cluster(event), DetectorEventFields.instanceAlone(event), name, kind.name());
    }

    /** The refused logins of an entity by day. */
    static final class State implements DetectorState {

        private final ObservedPeriod observed = new ObservedPeriod();
        private boolean hasSucceeded;
        private DailyHistory history = new DailyHistory();
        private int day = NEVER;
        private int today;
        private int reportedDay = NEVER;
        private int firedDay = NEVER;
        private int othersSince = NEVER;
        private CardinalityEstimator others = new CardinalityEstimator();
        private RecentRefusals recent = new RecentRefusals();
        private FamiliarRefusals familiar = new FamiliarRefusals();
        /** The latest day with a refused login at a client that is not familiar. */
        private int strangeDay = NEVER;
        /** The clients from which the account logs in. */
        private FamiliarRefusals logins = new FamiliarRefusals();
        /** The latest day with a refused login at a client from which the account did not log in a week before. */
        private int foreignDay = NEVER;

        @Override
        public long latestMicros() {
            return observed.latest();
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            observed.write(out);
            out.writeBoolean(hasSucceeded);
            history.write(out);
            out.writeInt(day);
            out.writeInt(today);
            out.writeInt(reportedDay);
            out.writeInt(firedDay);
            out.writeInt(othersSince);
            others.write(out);
            recent.write(out);
            familiar.write(out);
            out.writeInt(strangeDay);
            logins.write(out);
            out.writeInt(foreignDay);
        }

        @Override
        public void read(DataInput in) throws IOException {
            byte version = DetectorDefinition.requireVersion(in, OLDEST_VERSION, VERSION);
            observed.read(in);
            hasSucceeded = in.readBoolean();
            history = DailyHistory.read(in);
            day = in.readInt();
            today = in.readInt();
            reportedDay = in.readInt();
            firedDay = in.readInt();
            othersSince = in.readInt();
            others = CardinalityEstimator.read(in);
            recent = RecentRefusals.read(in);
            if (version > OLDEST_VERSION) {
                familiar = FamiliarRefusals.read(in);
                strangeDay = in.readInt();
            }
            if (version > WITHOUT_LOGINS) {
                logins = FamiliarRefusals.read(in);
                foreignDay = in.readInt();
            }
        }

        /** Counts a refused login of a day; returns false if that cannot make the day unusual. */
        private boolean count(int of, long other) {
            if (of - othersSince >= WEEK) {
                othersSince = of;
                others = new CardinalityEstimator();
            }
            others.add(other);
            if (of < day) {
                history.set(of, history.amount(of) + 1);
                return false;
            }
            today = of == day ? today + 1 : 1;
            day = of;
            history.set(of, today);
            return true;
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        long micros = observation.micros();
        // Only the first success of an hour is certain to arrive, so times are those of hours.
        long hour = ExpiringValueSet.hour(micros) * ExpiringValueSet.HOUR;
        boolean changed = hour > state.observed.latest() || hour < state.observed.first();
        state.observed.extend(hour);
        if (observation.values().isEmpty()) {
            changed |= !state.hasSucceeded;
            state.hasSucceeded = true;
            return changed;
        }
        int day = (int) Math.floorDiv(micros, ExpiringValueSet.DAY);
        Kind kind = Kind.valueOf(observation.entity().get(3));
        long other = ExpiringValueSet.hash(observation.values().get(0));
        if (kind == Kind.ACCOUNT && observation.values().size() > 1) {
            return state.logins.learn(other, day);
        }
        if (!state.recent.add(micros, other, ExpiringValueSet.hash(observation.actionId()))
                || !state.history.turnTo(day)) {
            return true;
        }
        boolean isFamiliar = isFamiliar(state, kind, observation, day);
        if (kind == Kind.ACCOUNT && !state.logins.contains(other, day)) {
            state.foreignDay = Math.max(day, state.foreignDay);
        }
        boolean isFast =
                state.recent.isBruteForce(micros, other) || kind != Kind.NETWORK && state.recent.isSprayed(micros);
        state.reportedDay = isFast ? Math.max(day, state.reportedDay) : state.reportedDay;
        if (state.recent.count(micros, 10) <= PER_TEN_MINUTES
                && !(isFamiliar && kind == Kind.NETWORK) // the limits of the account apply
                && state.count(day, other)
                && isJudged(state, kind, micros)) {
            compare(state, kind, observation, out);
        }
        return true;
    }

    /** Returns whether the account was refused at the same client a week before, or earlier. */
    private static boolean isFamiliar(State state, Kind kind, Observation observation, int day) {
        if (kind == Kind.CLIENT) {
            return false;
        }
        boolean isFamiliar = state.familiar.add(ExpiringValueSet.hash(String.join("\n", observation.values())), day);
        state.strangeDay = isFamiliar ? state.strangeDay : Math.max(day, state.strangeDay);
        return isFamiliar;
    }

    private boolean isJudged(State state, Kind kind, long micros) {
        if (kind == Kind.ACCOUNT) {
            return true;
        }
        boolean isLearning = state.hasSucceeded && !state.observed.hasLasted(limits.learningMicros, micros);
        return !isLearning && state.others.estimate() >= limits.others;
    }

    private void compare(State state, Kind kind, Observation observation, Consumer<RaisedAlert> out) {
        int day = state.day;
        DailyHistory.Baseline past = state.history.baseline(day, limits.deviations, limits.perDay);
        boolean familiar = kind == Kind.ACCOUNT && state.strangeDay < day;
        double limit = Math.max(past.threshold(), familiar ? AT_FAMILIAR_CLIENTS * limits.perDay : 0);
        if (state.today > limit && state.firedDay != day && state.reportedDay != day) {
            state.firedDay = day;
            out.accept(alert(state, kind, observation, state.today, limit, 1));
            return;
        }
        double week = state.today + state.history.amount(day - WEEK + 1, day - 1);
        double usual = 2 * largestWeek(state.history, day);
        boolean isSilent = day - state.firedDay < WEEK || day - state.reportedDay < WEEK;
        if (!isSilent && week > Math.max(limits.perWeek, usual)) {
            state.firedDay = day;
            out.accept(alert(state, kind, observation, Math.round(week), Math.max(limits.perWeek, usual), WEEK));
        }
    }

    /** Returns the largest number of one of the four weeks before the last seven days. */
    private static double largestWeek(DailyHistory history, int day) {
        double largest = 0;
        for (int week = 1; week <= 4; week++) {
            largest = Math.max(largest, history.amount(day - (week + 1) * WEEK + 1, day - week * WEEK));
        }
        return largest;
    }

    private RaisedAlert alert(
            State state, Kind kind, Observation observation, long refused, double threshold, int days) {
        DailyHistory.Baseline past = state.history.baseline(state.day - days + 1, limits.deviations, limits.perDay);
        long others = Math.round(state.others.estimate());
        Map<String, String> facts = new TreeMap<>();
        facts.put("counted", "refused logins of the " + kind.noun);
        facts.put("refused", Long.toString(refused));
        facts.put("window_days", Integer.toString(days));
        past.describe(facts);
        // That of a week is not that of its past days.
        facts.put("threshold", Long.toString(Math.round(threshold)));
        facts.put(kind.others + "s", Long.toString(others));
        facts.put(
                Explanation.FACT,
                String.format(
                        "%s of the %s %s %s refused %s, by %s; at most %s were expected, because %s.",
                        Explanation.number(refused, "login"),
                        kind.noun,
                        observation.entity().get(2),
                        refused == 1 ? "was" : "were",
                        days == 1 ? "on " + Explanation.day(state.day) : "in seven days",
                        Explanation.number(others, kind.others),
                        Explanation.number(threshold),
                        past(past)));
        // A program with an old password: only clients were refused from which the account has logged in for a week.
        boolean isOwn = kind == Kind.ACCOUNT && state.day - state.foreignDay >= days;
        return (isOwn ? ofOwnClients : alerts.get(kind))
                .alert(
                        observation,
                        state.day + " " + days,
                        (state.day - days + 1) * ExpiringValueSet.DAY,
                        refused,
                        List.of(AlertSample.of(observation)),
                        facts);
    }

    private static String past(DailyHistory.Baseline past) {
        return past.days() == 0
                ? "none was refused in the days before"
                : "the median of " + Explanation.number(past.days(), "earlier day") + " with refused logins is "
                        + Explanation.number(past.median());
    }
}
