package io.tailrace.cli.backtest;

import io.tailrace.detection.sigma.rule.RuleHeader;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The alerts of one rule in a backtest, by version: 0 is the tested one, 1 the one that it is compared with. */
public final class RuleResult {

    /** Number of entities whose alerts are counted; those of further ones are counted together. */
    private static final int MAX_ENTITIES = 10_000;
    /** Stands for further entities. */
    private static final String OTHERS = "(others)";

    /**
     * An alert as an example.
     *
     * @param time event time in ISO 8601
     * @param detail statement or reasons of the alert
     */
    public record Sample(String alertId, String time, String entity, String detail) {}

    /** An entity with its alerts of both versions. */
    public record Entity(String key, long alerts, long against) {}

    private final RuleHeader header;
    private final int maxSamples;
    private final long[] raised = new long[2];
    private final long[] alerts = new long[2];
    private final TreeMap<String, long[]> days = new TreeMap<>();
    private final Map<String, long[]> entities = new HashMap<>();
    private final List<Sample> samples = new ArrayList<>();
    private final List<Sample> added = new ArrayList<>();
    private final List<Sample> removed = new ArrayList<>();
    private long addedAlerts;
    private long removedAlerts;

    RuleResult(RuleHeader header, int maxSamples) {
        this.header = header;
        this.maxSamples = maxSamples;
    }

    void raise(int version) {
        raised[version]++;
    }

    /** Counts a grouped alert. */
    void count(Sample alert, String day, boolean tested, boolean against) {
        long[] ofDay = days.computeIfAbsent(day, key -> new long[2]);
        String entity =
                entities.size() < MAX_ENTITIES || entities.containsKey(alert.entity()) ? alert.entity() : OTHERS;
        long[] ofEntity = entities.computeIfAbsent(entity, key -> new long[2]);
        add(tested, 0, ofDay, ofEntity);
        add(against, 1, ofDay, ofEntity);
        if (tested) {
            keep(samples, alert);
        }
        if (tested && !against) {
            addedAlerts++;
            keep(added, alert);
        } else if (against && !tested) {
            removedAlerts++;
            keep(removed, alert);
        }
    }

    private void add(boolean isRaised, int version, long[] ofDay, long[] ofEntity) {
        if (isRaised) {
            alerts[version]++;
            ofDay[version]++;
            ofEntity[version]++;
        }
    }

    private void keep(List<Sample> kept, Sample sample) {
        if (kept.size() < maxSamples) {
            kept.add(sample);
        }
    }

    public RuleHeader header() {
        return header;
    }

    /** Returns how often the rule fired, before alerts of an entity within ten minutes are grouped. */
    public long raised(int version) {
        return raised[version];
    }

    /** Returns the number of grouped alerts: rows of the table of alerts. */
    public long alerts(int version) {
        return alerts[version];
    }

    /** Returns the numbers of grouped alerts of both versions by day in UTC. */
    public Map<String, long[]> days() {
        return days;
    }

    /** Returns the entities with the most alerts. */
    public List<Entity> topEntities(int limit) {
        return entities.entrySet().stream()
                .map(entity -> new Entity(entity.getKey(), entity.getValue()[0], entity.getValue()[1]))
                .sorted(Comparator.comparingLong((Entity entity) -> -Math.max(entity.alerts(), entity.against()))
                        .thenComparing(Entity::key))
                .limit(limit)
                .toList();
    }

    public List<Sample> samples() {
        return samples;
    }

    /** Returns examples of alerts that only the tested version raises. */
    public List<Sample> added() {
        return added;
    }

    /** Returns examples of alerts that only the other version raises. */
    public List<Sample> removed() {
        return removed;
    }

    public long addedAlerts() {
        return addedAlerts;
    }

    public long removedAlerts() {
        return removedAlerts;
    }
}
