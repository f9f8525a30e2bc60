package io.tailrace.detection.detector;

import io.tailrace.detection.Alert;
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
 * An account is created or given a right; soon after, an account does for the first time what few may do: a new one, or
 * a known one that never did. Logs without literals do not say to whom a right was given, so any account of the cluster
 * that begins to use such a right within the window is meant; whoever gave it counts, too.
 */
final class PrivilegeChain extends ConfiguredDetector {

    private static final byte VERSION = 1;
    private static final int MOST_ACCOUNTS = 4_000;
    private static final int MOST_GRANTS = 8;
    private static final String SEEN = "seen";
    private static final String GIVEN = "given";

    private final long windowMicros;
    private final long learningMicros;
    private final RecentlyObserved recently = new RecentlyObserved(KnownValues.HOUR);
    private final DetectorAlerts alerts;

    PrivilegeChain(DetectorBasis basis, long windowMicros, long learningMicros) {
        super(basis);
        this.windowMicros = windowMicros;
        this.learningMicros = learningMicros;
        this.alerts = DetectorAlerts.ofUsers(basis.header());
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        if (event.values("user").isEmpty() || !EventParts.isActivity(event) || EventParts.hasFailed(event)) {
            return;
        }
        String cluster = EventParts.cluster(event);
        String instance = EventParts.instanceAlone(event);
        String user = EventParts.text(event, "user");
        List<String> values = new ArrayList<>(0);
        if (recently.isNew(event.micros(), cluster, instance, user)) {
            values.add(SEEN);
        }
        for (Deed deed : Deed.of(event)) {
            if (recently.isNew(event.micros(), cluster, instance, user, deed.key())) {
                values.add(deed.key());
            }
        }
        if (Deed.isGiving(EventParts.statement(event))) {
            values.add(GIVEN);
        }
        if (!values.isEmpty() && !basis.isExcepted(event)) {
            values.add(0, user);
            observations.accept(basis.observation(event, List.of(cluster, instance), values));
        }
    }

    /** The accounts of a cluster: since when they are known, and what they have done. */
    private static final class State implements DetectorState {

        private long first = Long.MAX_VALUE;
        private long latest = Long.MIN_VALUE;
        private final Map<Long, Account> accounts = new TreeMap<>();
        private final List<Grant> grants = new ArrayList<>(MOST_GRANTS);

        @Override
        public long latestMicros() {
            return latest;
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            out.writeLong(first);
            out.writeLong(latest);
            out.writeInt(accounts.size());
            for (Map.Entry<Long, Account> account : accounts.entrySet()) {
                out.writeLong(account.getKey());
                out.writeInt(account.getValue().firstHour);
                out.writeInt(account.getValue().latestHour);
                out.writeByte(account.getValue().deeds);
            }
            out.writeByte(grants.size());
            for (Grant grant : grants) {
                out.writeUTF(grant.user);
                grant.evidence.write(out);
            }
        }

        private Account account(String user, int hour) {
            long hash = KnownValues.hash(user);
            Account account = accounts.get(hash);
            if (account == null) {
                if (accounts.size() == MOST_ACCOUNTS) {
                    accounts.remove(longestUnseen());
                }
                account = new Account(hour);
                accounts.put(hash, account);
            }
            account.latestHour = Math.max(account.latestHour, hour);
            return account;
        }

        private Long longestUnseen() {
            return accounts.entrySet().stream()
                    .min(Map.Entry.comparingByValue((a, b) -> Integer.compare(a.latestHour, b.latestHour)))
                    .orElseThrow()
                    .getKey();
        }
    }

    private static final class Account {

        private int firstHour;
        private int latestHour;
        private int deeds;

        private Account(int hour) {
            this.firstHour = hour;
            this.latestHour = hour;
        }
    }

    private record Grant(String user, Evidence evidence) {}

    @Override
    public DetectorState newState() {
        return new State();
    }

    @Override
    public DetectorState readState(DataInput in) throws IOException {
        DetectorBasis.requireVersion(in, VERSION);
        State state = new State();
        state.first = in.readLong();
        state.latest = in.readLong();
        for (int left = in.readInt(); left > 0; left--) {
            long hash = in.readLong();
            Account account = new Account(in.readInt());
            account.latestHour = in.readInt();
            account.deeds = in.readByte();
            state.accounts.put(hash, account);
        }
        for (int left = in.readByte(); left > 0; left--) {
            state.grants.add(new Grant(in.readUTF(), Evidence.read(in)));
        }
        return state;
    }

    @Override
    public boolean update(DetectorState kept, Observation observation, Consumer<Alert> out) {
        State state = (State) kept;
        String user = observation.values().get(0);
        int hour = KnownValues.hour(observation.micros());
        state.first = Math.min(state.first, hour * KnownValues.HOUR);
        state.latest = Math.max(state.latest, hour * KnownValues.HOUR);
        Account account = state.account(user, hour);
        for (Deed deed : Deed.values()) {
            if (observation.values().contains(deed.key()) && (account.deeds & deed.bit()) == 0) {
                account.deeds |= deed.bit();
                firstDeed(state, account, deed, observation, out);
            }
        }
        if (observation.values().contains(GIVEN)) {
            if (state.grants.size() == MOST_GRANTS) {
                state.grants.remove(0);
            }
            state.grants.add(new Grant(user, Evidence.of(observation).kept()));
        }
        return true;
    }

    private void firstDeed(State state, Account account, Deed deed, Observation observation, Consumer<Alert> out) {
        if (observation.micros() - state.first < learningMicros) {
            return;
        }
        for (int i = state.grants.size() - 1; i >= 0; i--) {
            Grant grant = state.grants.get(i);
            long since = observation.micros() - grant.evidence.micros();
            if (since >= 0 && since <= windowMicros) {
                out.accept(alert(grant, account, deed, observation));
                return;
            }
        }
    }

    private Alert alert(Grant grant, Account account, Deed deed, Observation observation) {
        String user = observation.values().get(0);
        boolean isNew = account.firstHour >= KnownValues.hour(grant.evidence.micros());
        List<String> entity = new ArrayList<>(observation.entity());
        entity.add(user);
        return alerts.alert(
                observation.about(entity),
                deed.key() + ' ' + grant.evidence.eventId(),
                grant.evidence.micros(),
                2,
                List.of(grant.evidence, Evidence.of(observation)),
                Map.of(
                        "deed", deed.key(),
                        "account", isNew ? "new" : "known",
                        "account_since", DetectorAlerts.time(account.firstHour * KnownValues.HOUR),
                        "granted_by", grant.user,
                        "granted_at", DetectorAlerts.time(grant.evidence.micros())));
    }
}
