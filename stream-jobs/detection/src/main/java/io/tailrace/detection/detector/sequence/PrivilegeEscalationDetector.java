package io.tailrace.detection.detector.sequence;

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
import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.sigma.rule.Level;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Detects an account that performs a privileged operation for the first time, soon after an account was created or
 * given a privilege. The account is the grantee, new or known, or the granter. If the grantee is unknown (a log
 * truncated the statement, or a role was granted something, whose members are unknown), any account of the cluster
 * counts.
 */
public final class PrivilegeEscalationDetector extends AbstractDetector<PrivilegeEscalationDetector.State> {

    /** Version 2 stores the grantees of a grant. */
    private static final byte VERSION = 2;

    private static final byte VERSION_WITHOUT_GRANTEES = 1;

    private static final int MAX_ACCOUNTS = 4_000;
    private static final int MAX_GRANTS = 16;
    /** Maximum number of grantees of one statement; a statement with more counts as a grant to any account. */
    private static final int MAX_GRANTEES = 16;

    private static final String SEEN = "seen";
    /** Prefix of the name of a grantee. */
    private static final String TO = "to=";

    private final long windowMicros;
    private final long learningMicros;
    private final ObservationCache recently = new ObservationCache(ExpiringValueSet.HOUR);
    private final DetectorAlertFactory alerts;
    private final DetectorAlertFactory ofAdministrators;

    public PrivilegeEscalationDetector(DetectorDefinition basis, long windowMicros, long learningMicros) {
        super(basis, State::new);
        this.windowMicros = windowMicros;
        this.learningMicros = learningMicros;
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
        this.ofAdministrators = DetectorAlertFactory.ofUsers(basis.header().at(Level.LOW));
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        if (event.values("user").isEmpty()
                || !DetectorEventFields.isActivity(event)
                || DetectorEventFields.hasFailed(event)) {
            return;
        }
        String cluster = DetectorEventFields.cluster(event);
        String instance = DetectorEventFields.instanceAlone(event);
        String user = DetectorEventFields.text(event, "user");
        List<String> values = new ArrayList<>(0);
        if (recently.isNew(event.micros(), cluster, instance, user)) {
            values.add(SEEN);
        }
        for (PrivilegedOperation operation : PrivilegedOperation.of(event)) {
            if (recently.isNew(event.micros(), cluster, instance, user, operation.key())) {
                values.add(operation.key());
            }
        }
        addGiven(event, values);
        if (!values.isEmpty() && !basis.isExcepted(event)) {
            values.add(0, user);
            observations.accept(basis.observation(event, List.of(cluster, instance), values));
        }
    }

    private static void addGiven(DetectionEvent event, List<String> values) {
        if (!PrivilegedOperation.isGiving(event)) {
            return;
        }
        List<FieldValue> grantees = event.values("target_user");
        boolean known =
                !grantees.isEmpty() && grantees.size() <= MAX_GRANTEES && !PrivilegedOperation.mayConcernOthers(event);
        Kind kind = !known ? Kind.ANYBODY : PrivilegedOperation.mayNameRoles(event) ? Kind.USERS_OR_ROLES : Kind.USERS;
        values.add(kind.name());
        for (int i = 0; i < Math.min(grantees.size(), MAX_GRANTEES); i++) {
            values.add(TO + BoundedText.of(grantees.get(i).text()));
        }
    }

    /** The recipients of a statement. */
    private enum Kind {
        /** The named accounts, and possibly others. */
        ANYBODY,
        USERS,
        USERS_OR_ROLES
    }

    /** The relation of an account to a grant, strongest first. */
    private enum Link {
        GRANTEE,
        GRANTER,
        /** The account may be a member of the role that was given a privilege, or the grantee is unknown. */
        POSSIBLE;

        private String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The accounts of a cluster, with the time since which they are known and the operations that they performed. */
    static final class State implements DetectorState {

        private final ObservedPeriod observed = new ObservedPeriod();
        private final Map<Long, Account> accounts = new TreeMap<>();
        private final List<Grant> grants = new ArrayList<>(MAX_GRANTS);

        @Override
        public long latestMicros() {
            return observed.latest();
        }

        @Override
        public void write(DataOutput out) throws IOException {
            out.writeByte(VERSION);
            observed.write(out);
            out.writeInt(accounts.size());
            for (Map.Entry<Long, Account> account : accounts.entrySet()) {
                out.writeLong(account.getKey());
                out.writeInt(account.getValue().firstHour);
                out.writeInt(account.getValue().latestHour);
                out.writeByte(account.getValue().operations);
            }
            out.writeByte(grants.size());
            for (Grant grant : grants) {
                out.writeUTF(grant.user);
                grant.evidence.write(out);
                out.writeByte(grant.kind.ordinal());
                out.writeByte(grant.grantees.size());
                for (long grantee : grant.grantees) {
                    out.writeLong(grantee);
                }
            }
        }

        @Override
        public void read(DataInput in) throws IOException {
            byte version = DetectorDefinition.requireVersion(in, VERSION_WITHOUT_GRANTEES, VERSION);
            observed.read(in);
            for (int left = in.readInt(); left > 0; left--) {
                long hash = in.readLong();
                Account account = new Account(in.readInt());
                account.latestHour = in.readInt();
                account.operations = in.readByte();
                accounts.put(hash, account);
            }
            for (int left = in.readByte(); left > 0; left--) {
                grants.add(Grant.read(in, version));
            }
        }

        private Account account(String user, int hour) {
            long hash = ExpiringValueSet.hash(user);
            Account account = accounts.get(hash);
            if (account == null) {
                if (accounts.size() == MAX_ACCOUNTS) {
                    accounts.remove(maxUnseen());
                }
                account = new Account(hour);
                accounts.put(hash, account);
            }
            account.latestHour = Math.max(account.latestHour, hour);
            return account;
        }

        private boolean isUser(long grantee) {
            return accounts.containsKey(grantee)
                    || grants.stream().anyMatch(grant -> grant.kind == Kind.USERS && grant.grantees.contains(grantee));
        }

        /** Returns the relation of the account to the grant; null if there is none. */
        private Link link(Grant grant, String user) {
            if (grant.grantees.contains(ExpiringValueSet.hash(user))) {
                return Link.GRANTEE;
            }
            // A password of another account gives its granter nothing: jobs rotate passwords.
            if (grant.user.equals(user) && !PrivilegedOperation.isPasswordOnly(grant.evidence.statement())) {
                return Link.GRANTER;
            }
            boolean role = grant.kind == Kind.USERS_OR_ROLES
                    && !grant.grantees.stream().allMatch(this::isUser);
            return role || grant.kind == Kind.ANYBODY ? Link.POSSIBLE : null;
        }

        /** Returns the chain of grants, from the first granter on. */
        private String path(Grant last, String user) {
            Deque<String> path = new ArrayDeque<>(List.of(last.user, user));
            Grant given = last;
            for (int i = grants.size() - 1; i >= 0; i--) {
                Grant grant = grants.get(i);
                boolean before = grant.evidence.micros() < given.evidence.micros();
                if (before
                        && grant.grantees.contains(ExpiringValueSet.hash(given.user))
                        && !path.contains(grant.user)) {
                    path.addFirst(grant.user);
                    given = grant;
                }
            }
            return String.join(" > ", path);
        }

        private Long maxUnseen() {
            return accounts.entrySet().stream()
                    .min(Map.Entry.comparingByValue((a, b) -> Integer.compare(a.latestHour, b.latestHour)))
                    .orElseThrow()
                    .getKey();
        }
    }

    private static final class Account {

        private int firstHour;
        private int latestHour;
        private int operations;

        private Account(int hour) {
            this.firstHour = hour;
            this.latestHour = hour;
        }
    }

    /** @param grantees hashes of the known user names */
    private record Grant(String user, AlertSample evidence, Kind kind, List<Long> grantees) {

        private static Grant read(DataInput in, byte version) throws IOException {
            String user = in.readUTF();
            AlertSample evidence = AlertSample.read(in);
            if (version == VERSION_WITHOUT_GRANTEES) {
                return new Grant(user, evidence, Kind.ANYBODY, List.of());
            }
            Kind kind = Kind.values()[in.readByte()];
            List<Long> grantees = new ArrayList<>();
            for (int left = in.readByte(); left > 0; left--) {
                grantees.add(in.readLong());
            }
            return new Grant(user, evidence, kind, grantees);
        }

        private static Optional<Grant> of(Observation observation) {
            List<String> values =
                    observation.values().subList(1, observation.values().size());
            return Arrays.stream(Kind.values())
                    .filter(kind -> values.contains(kind.name()))
                    .findFirst()
                    .map(kind -> new Grant(
                            observation.values().get(0),
                            AlertSample.of(observation).shortened(),
                            kind,
                            values.stream()
                                    .filter(value -> value.startsWith(TO))
                                    .map(value -> ExpiringValueSet.hash(value.substring(TO.length())))
                                    .toList()));
        }
    }

    @Override
    protected boolean apply(State state, Observation observation, Consumer<RaisedAlert> out) {
        String user = observation.values().get(0);
        int hour = ExpiringValueSet.hour(observation.micros());
        state.observed.extend(hour * ExpiringValueSet.HOUR);
        Account account = state.account(user, hour);
        List<String> seen = observation.values().subList(1, observation.values().size());
        for (PrivilegedOperation operation : PrivilegedOperation.values()) {
            if (seen.contains(operation.key()) && (account.operations & operation.bit()) == 0) {
                account.operations |= operation.bit();
                firstOperation(state, account, operation, observation, out);
            }
        }
        Grant.of(observation).ifPresent(grant -> keep(state.grants, grant));
        return true;
    }

    private static void keep(List<Grant> grants, Grant grant) {
        if (grants.size() == MAX_GRANTS) {
            grants.remove(0);
        }
        grants.add(grant);
    }

    private void firstOperation(
            State state,
            Account account,
            PrivilegedOperation operation,
            Observation observation,
            Consumer<RaisedAlert> out) {
        if (!state.observed.hasLasted(learningMicros, observation.micros())) {
            return;
        }
        Grant meant = null;
        Link closest = null;
        for (int i = state.grants.size() - 1; i >= 0; i--) {
            Grant grant = state.grants.get(i);
            long since = observation.micros() - grant.evidence.micros();
            Link link = since >= 0 && since <= windowMicros
                    ? state.link(grant, observation.values().get(0))
                    : null;
            if (link != null && (closest == null || link.compareTo(closest) < 0)) {
                meant = grant;
                closest = link;
            }
        }
        if (meant != null) {
            out.accept(alert(state, meant, closest, account, operation, observation));
        }
    }

    private RaisedAlert alert(
            State state,
            Grant grant,
            Link link,
            Account account,
            PrivilegedOperation operation,
            Observation observation) {
        String user = observation.values().get(0);
        boolean isNew = account.firstHour >= ExpiringValueSet.hour(grant.evidence.micros());
        List<String> entity = new ArrayList<>(observation.entity());
        entity.add(user);
        Map<String, String> facts = new HashMap<>(Map.of(
                "operation", operation.key(),
                "account", isNew ? "new" : "known",
                "account_since", DetectorAlertFactory.time(account.firstHour * ExpiringValueSet.HOUR),
                "granted_by", grant.user,
                "granted_at", DetectorAlertFactory.time(grant.evidence.micros()),
                "link", link.key()));
        String before = isNew
                ? "the account was unknown before"
                : "none was expected, because it performed none since " + facts.get("account_since");
        facts.put(Explanation.FACT, explanation(user, operation, grant, observation, before));
        if (link == Link.GRANTEE) {
            facts.put("path", state.path(grant, user));
        }
        return (link == Link.GRANTER && isAdministration(account, operation, grant) ? ofAdministrators : alerts)
                .alert(
                        observation.withEntity(entity),
                        operation.key() + ' ' + grant.evidence.eventId(),
                        grant.evidence.micros(),
                        2,
                        List.of(grant.evidence, AlertSample.of(observation)),
                        facts);
    }

    /**
     * Returns whether the account was known for the learning period before its grant, and now administrates the server. Rules report
     * dangerous settings and accesses to system tables by themselves.
     */
    private boolean isAdministration(Account account, PrivilegedOperation operation, Grant grant) {
        boolean ofServer = operation == PrivilegedOperation.SERVER || operation == PrivilegedOperation.SYSTEM_TABLES;
        return ofServer && grant.evidence.micros() - account.firstHour * ExpiringValueSet.HOUR >= learningMicros;
    }

    private static String explanation(
            String user, PrivilegedOperation operation, Grant grant, Observation observation, String before) {
        return String.format(
                "%s performed the operation %s for the first time, %s minutes after a change of accounts by %s; %s.",
                user,
                operation.key(),
                Explanation.number((observation.micros() - grant.evidence.micros()) / 6e7),
                grant.user.isEmpty() ? "an unknown account" : grant.user,
                before);
    }
}
