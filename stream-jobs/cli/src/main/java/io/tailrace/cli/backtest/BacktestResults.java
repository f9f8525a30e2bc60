package io.tailrace.cli.backtest;

import io.tailrace.detection.EntityKey;
import io.tailrace.detection.alert.AlertGroupId;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.sigma.rule.RuleHeader;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Counts the alerts of a backtest, grouped as the detect job groups them: by rule, entity and ten minutes. Alerts arrive
 * nearly in the order of their times, so only recent groups are kept.
 */
public final class BacktestResults {

    /** The default of {@code alerts.group.interval.ms} of the detect job. */
    private static final long GROUP_MILLIS = 600_000;

    private static final long MICROS_PER_MILLI = 1000;
    private static final int MAX_GROUPS = 100_000;
    private static final int MAX_DETAIL_LENGTH = 200;
    private static final int DAY_LENGTH = "2026-11-21".length();

    /** A grouped alert with the versions that raise it. */
    private static final class Group {
        final RuleResult rule;
        final RuleResult.Sample sample;
        final boolean[] isRaisedBy = new boolean[2];

        Group(RuleResult rule, RuleResult.Sample sample) {
            this.rule = rule;
            this.sample = sample;
        }
    }

    private final long from;
    private final int maxSamples;
    private final Map<String, RuleResult> rules = new LinkedHashMap<>();
    private final Map<String, Group> groups = new LinkedHashMap<>();
    private Map<String, Long> suppressed = Map.of();
    private long warmUp;

    /**
     * @param from start of the period, microseconds since 1970 UTC; earlier alerts are only counted
     * @param maxSamples number of examples of each kind
     */
    public BacktestResults(long from, int maxSamples) {
        this.from = from;
        this.maxSamples = maxSamples;
    }

    /** Adds a rule, so that it is listed although it never fires. */
    public void add(RuleHeader rule) {
        rules.computeIfAbsent(rule.key(), key -> new RuleResult(rule, maxSamples));
    }

    void raise(int version, RaisedAlert alert, Map<String, String> entity) {
        if (alert.micros() < from) {
            warmUp += version == 0 ? 1 : 0;
            return;
        }
        add(alert.rule());
        RuleResult rule = rules.get(alert.rule().key());
        rule.raise(version);
        String entityKey = EntityKey.of(entity);
        long millis = Math.floorDiv(alert.micros(), MICROS_PER_MILLI);
        String key = AlertGroupId.key(alert.rule().key(), entityKey, millis, GROUP_MILLIS);
        groups.computeIfAbsent(key, absent -> new Group(rule, sample(key, alert, entityKey))).isRaisedBy[version] =
                true;
        if (groups.size() > MAX_GROUPS) {
            Iterator<Group> oldest = groups.values().iterator();
            count(oldest.next());
            oldest.remove();
        }
    }

    private static RuleResult.Sample sample(String key, RaisedAlert alert, String entity) {
        List<String> parts = new ArrayList<>();
        new TreeMap<>(alert.facts()).forEach((name, value) -> parts.add(name + '=' + value));
        List<String> statements = alert.statements();
        if (!statements.isEmpty()) {
            parts.add(statements.get(statements.size() - 1));
        }
        String detail = String.join(" ", parts);
        String time = Instant.EPOCH.plus(alert.micros(), ChronoUnit.MICROS).toString();
        return new RuleResult.Sample(
                uuid(AlertGroupId.of(key)),
                time,
                entity,
                detail.length() <= MAX_DETAIL_LENGTH ? detail : detail.substring(0, MAX_DETAIL_LENGTH) + '…');
    }

    private static String uuid(byte[] bytes) {
        ByteBuffer halves = ByteBuffer.wrap(bytes);
        return new UUID(halves.getLong(), halves.getLong()).toString();
    }

    private static void count(Group group) {
        String day = group.sample.time().substring(0, DAY_LENGTH);
        group.rule.count(group.sample, day, group.isRaisedBy[0], group.isRaisedBy[1]);
    }

    long from() {
        return from;
    }

    /**
     * Ends the backtest: counts the groups that are still kept.
     *
     * @param suppressedMatches number of matches that each exception of the tested version suppressed, by its title
     */
    void finish(Map<String, Long> suppressedMatches) {
        suppressed = suppressedMatches;
        groups.values().forEach(BacktestResults::count);
        groups.clear();
    }

    /** Returns the results by rule, in the order in which the rules were added. */
    public List<RuleResult> rules() {
        return List.copyOf(rules.values());
    }

    /** Returns the number of matches that each exception suppressed in the period, by its title. */
    public Map<String, Long> suppressed() {
        return suppressed;
    }

    /** Returns how often rules fired before the period. */
    public long inWarmUp() {
        return warmUp;
    }
}
