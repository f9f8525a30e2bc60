package io.tailrace.detection.detector.peer;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.AbstractDetector;
import io.tailrace.detection.detector.AlertSample;
import io.tailrace.detection.detector.DetectorAlertFactory;
import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.DetectorOptions;
import io.tailrace.detection.detector.Explanation;
import io.tailrace.detection.detector.Observation;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import io.tailrace.detection.detector.firstseen.ObservationCache;
import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Detects that an account accesses a table that neither it nor another account of its peer group accessed before. A
 * group whose members mostly use tables of their own gives no expectation, and causes no alerts.
 */
public final class PeerTablesDetector extends AbstractDetector<PeerGroup> {

    /**
     * Limits of alerts.
     *
     * @param learningHours how long a group and a peer are learned
     * @param activeHours a peer counts if it was active within this time
     * @param minPeers number of peers from which on a group gives an expectation
     * @param minShared share of the tables of the group that at least two members use
     * @param maxTables number of tables of a group
     * @param maxPerDay maximum number of alerts of a group per day
     */
    public record Limits(
            int learningHours, int activeHours, int minPeers, double minShared, int maxTables, int maxPerDay) {

        public static Limits of(DetectorOptions settings) {
            return new Limits(
                    ExpiringValueSet.hour(settings.days("learning", 14)),
                    ExpiringValueSet.hour(settings.days("active", 28)),
                    settings.whole("min_peers", 3, 1, PeerGroup.MAX_MEMBERS - 1),
                    settings.number("min_shared", 0.8, 0, 1),
                    settings.whole("max_values", 2_000, 1, 10_000),
                    settings.whole("max_alerts_per_day", 3, 1, 1_000));
        }
    }

    private static final int MAX_NAMED = 5;

    private final PeerGroups groups;
    private final Limits limits;
    private final ObservationCache recently = new ObservationCache(ExpiringValueSet.HOUR);
    private final DetectorAlertFactory alerts;

    public PeerTablesDetector(DetectorDefinition basis, PeerGroups groups, Limits limits) {
        super(basis, PeerGroup::new);
        this.groups = groups;
        this.limits = limits;
        this.alerts = DetectorAlertFactory.ofUsers(basis.header());
    }

    @Override
    public void observe(DetectionEvent event, Consumer<Observation> observations) {
        List<FieldValue> tables = event.values("table");
        String user = DetectorEventFields.text(event, "user");
        if (tables.isEmpty() || user.isEmpty() || DetectorEventFields.hasFailed(event)) {
            return;
        }
        String cluster = DetectorEventFields.cluster(event);
        String instance = DetectorEventFields.instanceAlone(event);
        List<String> values = new ArrayList<>(List.of(user));
        for (FieldValue each : tables) {
            String table = BoundedText.of(each.text());
            if (recently.isNew(event.micros(), cluster, instance, user, table)) {
                values.add(table);
            }
        }
        if (values.size() == 1 || basis.isExcepted(event)) {
            return;
        }
        groups.of(event, user)
                .ifPresent(group ->
                        observations.accept(basis.observation(event, List.of(cluster, instance, group), values)));
    }

    @Override
    protected boolean apply(PeerGroup group, Observation observation, Consumer<RaisedAlert> out) {
        int hour = ExpiringValueSet.hour(observation.micros());
        long member = group.member(ExpiringValueSet.hash(observation.values().get(0)), hour);
        List<String> unknown = new ArrayList<>(0);
        for (String table : observation.values().subList(1, observation.values().size())) {
            if (group.use(ExpiringValueSet.hash(table), member, hour, limits.maxTables) == 0) {
                unknown.add(table);
            }
        }
        int peers = unknown.isEmpty()
                ? 0
                : Long.bitCount(group.peers(member, hour - limits.learningHours, hour - limits.activeHours));
        boolean expects = peers >= limits.minPeers
                && hour - group.firstHour() >= limits.learningHours
                && group.sharedValues() >= limits.minShared * (group.values() - unknown.size());
        if (expects && group.countAlert(ExpiringValueSet.day(observation.micros()), limits.maxPerDay)) {
            out.accept(alert(group, observation, unknown, peers));
        }
        return true;
    }

    private RaisedAlert alert(PeerGroup group, Observation observation, List<String> unknown, int peers) {
        String user = observation.values().get(0);
        String name = observation.entity().get(2);
        String tables = String.join(", ", unknown.subList(0, Math.min(MAX_NAMED, unknown.size())));
        int known = group.values() - unknown.size();
        Map<String, String> facts = new TreeMap<>();
        facts.put("table", tables);
        facts.put("peer_group", name);
        facts.put("peers", Integer.toString(peers));
        facts.put("group_tables", Integer.toString(known));
        facts.put("group_tables_shared", Integer.toString(group.sharedValues()));
        facts.put("known_since", DetectorAlertFactory.time(group.firstHour() * ExpiringValueSet.HOUR));
        facts.put(
                Explanation.FACT,
                String.format(
                        "%s accessed %s; none of the %s of the group %s did since %s, and they share %s of %s.",
                        user,
                        tables,
                        Explanation.number(peers, "active peer"),
                        name,
                        DetectorAlertFactory.time(group.firstHour() * ExpiringValueSet.HOUR),
                        Explanation.number(group.sharedValues()),
                        Explanation.number(known, "table")));
        List<String> entity = new ArrayList<>(observation.entity());
        entity.set(2, user);
        return alerts.alert(
                observation.withEntity(entity),
                ExpiringValueSet.day(observation.micros()) + " " + String.join("\u001f", unknown),
                observation.micros(),
                unknown.size(),
                List.of(AlertSample.of(observation)),
                facts);
    }
}
