package io.tailrace.detection.correlation;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.correlation.RepeatedMatches.Earlier;
import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.BoundedText;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.history.ShortHistory;
import io.tailrace.detection.sigma.rule.CorrelationCondition;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.CorrelationRule.Learning;
import io.tailrace.detection.sigma.rule.CorrelationRule.Type;
import io.tailrace.identity.Murmur3;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Evaluates one correlation over the matches of its rules. Its state is external: one {@link GroupWindow} per group.
 *
 * <p>The window of a match contains all matches of its group within the timespan before it, both ends included. A
 * condition that further matches can only make true (gt, gte) is evaluated immediately, in any order of arrival. Any
 * other condition is evaluated when the watermark has passed the match. After the correlation has fired, it does not
 * fire for times less than a timespan away, so an attack causes one alert per timespan, unless the correlation has a
 * level for repeated matches.
 */
public final class CorrelationEvaluator {

    /** Number of matches stored per group, unless twice the number of the condition is greater. */
    static final int MAX_OCCURRENCES = 1_000;

    private final CorrelationRule rule;
    private final long latenessMicros;
    private final int limit;
    /** Number of different values or rules without which no window fulfils the condition. */
    private final long leastDistinct;

    private final RuleIds numbers;
    private final RepeatedMatches further;

    /**
     * @param latenessMicros by how many microseconds an event may be behind the watermark and still count completely
     */
    public CorrelationEvaluator(CorrelationRule rule, long latenessMicros) {
        this.rule = rule;
        this.latenessMicros = latenessMicros;
        this.numbers = new RuleIds(rule.rules());
        this.further = new RepeatedMatches(rule, numbers);
        this.leastDistinct = Math.max(
                rule.bound(),
                rule.condition().alternatives().stream()
                        .mapToInt(List::size)
                        .min()
                        .orElse(0));
        this.limit = rule.type().isNumeric() ? Integer.MAX_VALUE : (int) Math.max(MAX_OCCURRENCES, 2 * rule.bound());
    }

    public CorrelationRule rule() {
        return rule;
    }

    /** Removes the history of a match that a short one does not excuse. Call it with the complete event. */
    public void judgeHistory(DetectionEvent event) {
        if (rule.learning() != Learning.NONE) {
            event.history(ShortHistory.days(event));
        }
    }

    /** Returns the groups of a match; empty if the event lacks a value for one of the fields. */
    public List<List<String>> groups(String ruleKey, DetectionEvent event) {
        return MatchGroups.of(rule, ruleKey, event);
    }

    /**
     * Counts a match.
     *
     * @param group one of {@link #groups}
     * @param window state of the group, which is modified
     * @param watermark event time up to which all events are expected to have arrived, microseconds
     */
    public void add(
            String ruleKey,
            DetectionEvent event,
            List<String> group,
            GroupWindow window,
            long watermark,
            Consumer<RaisedAlert> raised) {
        Consumer<RaisedAlert> alerts = FirstDays.lowering(rule, event, group, raised);
        if (rule.isOfValues()) {
            addToChange(ruleKey, event, group, window, watermark, alerts);
            return;
        }
        boolean repeats =
                rule.repeatLevel().isPresent() && hasFiredWithin(event.action().micros(), window);
        boolean isReported = false;
        for (String value : values(ruleKey, event)) {
            RuleMatch occurrence = occurrence(ruleKey, event, value, watermark);
            if (rule.type().isNumeric() && window.joins(occurrence)) {
                continue;
            }
            int place = window.add(occurrence, limit);
            if (place >= 0 && rule.isEvaluatedOnArrival()) {
                if (repeats && !isReported) {
                    alerts.accept(repeated(event, occurrence, group, window, watermark));
                    isReported = true;
                } else if (!isRedundant(place, window)) {
                    compareFrom(place, group, window, watermark, fired(event, alerts));
                }
                compact(occurrence, window);
            }
            if (rule.type().isNumeric() && window.occurrences().size() > NumericWindow.FULL) {
                reduce(group, window, watermark, alerts);
            }
        }
    }

    /** Counts a match of a correlation with {@code one_change} or {@code known_by}: each match raises an alert. */
    private void addToChange(
            String ruleKey,
            DetectionEvent event,
            List<String> group,
            GroupWindow window,
            long watermark,
            Consumer<RaisedAlert> alerts) {
        boolean known = rule.known().rules().contains(ruleKey);
        for (String value : values(ruleKey, event)) {
            RuleMatch match = occurrence(ruleKey, event, value, watermark);
            if (known ? further.isOfKnownDay(match, window) : further.isOfIgnoredGroup(match, window)) {
                continue;
            }
            Earlier earlier = further.earlier(match, group, window);
            boolean isNew = window.add(match, limit) >= 0;
            if (isNew && known) {
                further.compact(match, window);
            } else if (isNew) {
                Map<String, String> entity = new LinkedHashMap<>(Map.of(rule.field(), value));
                entity.putAll(entity(group));
                alerts.accept(further.alert(event, match, group, entity, earlier, isLate(match.micros(), watermark)));
                if (earlier.isNone()) {
                    window.fired().add(match.micros());
                }
            }
        }
    }

    /**
     * Keeps the newest numbers of a busy group, and what is needed of the older ones: one third of all matches are
     * always evaluated already, so that the next window is complete.
     */
    private void reduce(List<String> group, GroupWindow window, long watermark, Consumer<RaisedAlert> alerts) {
        int size = window.occurrences().size();
        if (!rule.isEvaluatedOnArrival()) {
            int newest = size - NumericWindow.MAX_NUMBERS;
            settle(window.firstFrom(window.occurrences().get(newest).micros()), group, window, watermark, alerts);
        }
        int older = size - NumericWindow.MAX_NUMBERS;
        List<RuleMatch> kept = window.occurrences().subList(0, older);
        List<RuleMatch> fewer = rule.type().isRank() ? kept : NumericWindow.inSlices(kept, rule.timespanMicros());
        int from = Math.max(0, fewer.size() - NumericWindow.MAX_NUMBERS);
        window.replaceOldest(older, fewer.subList(from, fewer.size()));
    }

    /** Only the latest event is still available with its statement. */
    private static Consumer<RaisedAlert> fired(DetectionEvent event, Consumer<RaisedAlert> alerts) {
        return alert -> alerts.accept(alert.withStatements(RaisedAlert.statements(event)));
    }

    /**
     * Returns whether the match cannot make the condition true: its value is among those of the window that ended with
     * the preceding match, which was evaluated, and no time at which the correlation fired could become due again.
     */
    private boolean isRedundant(int place, GroupWindow window) {
        return countsDifferent() && window.fired().isEmpty() && window.isRepeatedAtEnd(place, rule.timespanMicros());
    }

    private boolean countsDifferent() {
        return rule.type() == Type.VALUE_COUNT || rule.type() == Type.TEMPORAL;
    }

    /** Each match that raises an alert is kept: its action may arrive again, from another log. */
    private void compact(RuleMatch occurrence, GroupWindow window) {
        if (countsDifferent() && rule.repeatLevel().isEmpty()) {
            window.compact(occurrence, rule.timespanMicros());
        }
    }

    private List<String> values(String ruleKey, DetectionEvent event) {
        if (rule.field().isEmpty()) {
            return List.of("");
        }
        String field = rule.fieldOf(ruleKey, rule.field());
        if (rule.type().isNumeric()) {
            return Amount.of(event, field).map(Amount::text).stream().toList();
        }
        List<FieldValue> values = event.values(field);
        if (values.size() == 1) {
            return List.of(BoundedText.of(values.get(0).folded()));
        }
        return values.stream()
                .map(value -> BoundedText.of(value.folded()))
                .distinct()
                .toList();
    }

    /** Events of one action are one match: at the time of the first. */
    private RuleMatch occurrence(String ruleKey, DetectionEvent event, String value, long watermark) {
        ActionReference action = event.action();
        long needed = Math.max(action.micros(), watermark) + rule.timespanMicros() + latenessMicros;
        int number = rule.type() == Type.EVENT_COUNT || rule.type().isNumeric() ? RuleIds.ANY : numbers.of(ruleKey);
        return new RuleMatch(action.micros(), action.order(), action.id(), event.recordId(), number, value, needed);
    }

    /**
     * Evaluates every window that contains the match at this index. After a late match these are as many as there are
     * matches within a timespan: those with too few different values or rules are ruled out first.
     */
    private void compareFrom(
            int place, List<String> group, GroupWindow window, long watermark, Consumer<RaisedAlert> alerts) {
        List<RuleMatch> occurrences = window.occurrences();
        long last = occurrences.get(place).micros() + rule.timespanMicros();
        boolean isLate = place < occurrences.size() - 1 && countsDistinct();
        SlidingDistinct distinct = new SlidingDistinct(window, rule.timespanMicros(), this::distinguished);
        for (int end = place; end < occurrences.size() && occurrences.get(end).micros() <= last; end++) {
            RuleMatch match = occurrences.get(end);
            boolean isRuledOut =
                    hasFiredWithin(match.micros(), window) || isLate && distinct.until(match.micros()) < leastDistinct;
            if (!isRuledOut) {
                compare(match, group, window, watermark, alerts);
            }
        }
    }

    /** The metric of these types is at most the number of different values, or of rules, in the window. */
    private boolean countsDistinct() {
        return countsDifferent() || rule.type() == Type.TEMPORAL_ORDERED;
    }

    private Object distinguished(RuleMatch match) {
        return rule.type() == Type.VALUE_COUNT ? match.value() : (Object) match.rule();
    }

    private void compare(
            RuleMatch end, List<String> group, GroupWindow window, long watermark, Consumer<RaisedAlert> alerts) {
        int from = window.firstFrom(end.micros() - rule.timespanMicros());
        int to = window.firstFrom(end.micros() + 1);
        List<RuleMatch> matches = window.occurrences().subList(from, to);
        if (isTooFew(matches)) {
            return;
        }
        double metric = CorrelationMetric.of(rule, numbers, matches);
        if (rule.condition().test(metric)) {
            window.fired().add(end.micros());
            alerts.accept(alert(end.micros(), group, matches, metric, watermark));
        }
    }

    /** Spares the computation of a metric that is at most the number of matches. */
    private boolean isTooFew(List<RuleMatch> matches) {
        return rule.condition().isRising() && !rule.type().isNumeric() && matches.size() < rule.bound();
    }

    private boolean hasFiredWithin(long micros, GroupWindow window) {
        for (long fired : window.fired()) {
            if (isWithin(micros, fired)) {
                return true;
            }
        }
        return false;
    }

    private boolean isWithin(long micros, long fired) {
        return Math.abs(micros - fired) < rule.timespanMicros();
    }

    /**
     * Evaluates the windows that waited for the watermark, and forgets matches that are no longer needed.
     *
     * @return whether the state is empty and may be dropped
     */
    public boolean advance(List<String> group, GroupWindow window, long watermark, Consumer<RaisedAlert> alerts) {
        if (!rule.isEvaluatedOnArrival()) {
            settle(window.firstFrom(watermark + 1), group, window, watermark, alerts);
            window.settle(watermark);
        }
        window.forget(watermark, watermark - firedRetention());
        return window.isEmpty();
    }

    /** As {@link GroupWindow#unchangedUntil}, for {@link #advance} if matches are evaluated on arrival. */
    long unchangedUntil(GroupWindow window) {
        return window.unchangedUntil(firedRetention());
    }

    private long firedRetention() {
        return 2 * rule.timespanMicros() + latenessMicros;
    }

    /** Evaluates the windows that end with the matches before an index and were not evaluated yet. */
    private void settle(int to, List<String> group, GroupWindow window, long watermark, Consumer<RaisedAlert> alerts) {
        int from = window.settled() == Long.MIN_VALUE ? 0 : window.firstFrom(window.settled() + 1);
        for (RuleMatch end : List.copyOf(window.occurrences().subList(Math.min(from, to), to))) {
            if (!hasFiredWithin(end.micros(), window)) {
                compare(end, group, window, watermark, alerts);
            }
            window.settle(end.micros());
        }
    }

    private RaisedAlert alert(long micros, List<String> group, List<RuleMatch> matches, double metric, long watermark) {
        List<String> ids = matches.stream()
                .map(RuleMatch::named)
                .distinct()
                .limit(RaisedAlert.MAX_EVENTS)
                .toList();
        return new RaisedAlert(
                id(micros, group),
                rule.header(),
                micros,
                matches.get(0).micros(),
                entity(group),
                Math.round(metric),
                ids,
                List.of(),
                facts(matches, metric),
                isLate(micros, watermark));
    }

    /** Returns the alert about a further match of a group that was reported within the timespan. */
    private RaisedAlert repeated(
            DetectionEvent event, RuleMatch match, List<String> group, GroupWindow window, long watermark) {
        long reported = window.fired().stream()
                .filter(fired -> isWithin(match.micros(), fired))
                .min(Comparator.naturalOrder())
                .orElseThrow();
        Earlier earlier = new Earlier(Optional.of(reported), Optional.empty(), List.of());
        return further.alert(event, match, group, entity(group), earlier, isLate(match.micros(), watermark));
    }

    private boolean isLate(long micros, long watermark) {
        return micros < watermark - latenessMicros;
    }

    private Map<String, String> facts(List<RuleMatch> matches, double metric) {
        Map<String, String> facts = new TreeMap<>();
        facts.put("condition", rule.condition().toString());
        if (rule.type().isNumeric()) {
            facts.put("matches", Long.toString(NumericWindow.total(matches).count()));
            facts.put("measured", measured());
            facts.put("value", CorrelationCondition.spelled(metric));
            return facts;
        }
        facts.put("matches", Integer.toString(matches.size()));
        if (!rule.field().isEmpty()) {
            facts.put("counted", rule.field());
        }
        return facts;
    }

    private String measured() {
        String percentile = rule.type() == Type.VALUE_PERCENTILE
                ? " " + CorrelationCondition.spelled(rule.condition().percentile())
                : "";
        return rule.type().name().toLowerCase(Locale.ROOT) + percentile + " of " + rule.field();
    }

    /** Two alerts of a group are at least a timespan apart, so the number of the timespan makes the id unique. */
    private String id(long micros, List<String> group) {
        Murmur3 hash = new Murmur3();
        hash.update(rule.header().key()).update(Math.floorDiv(micros, rule.timespanMicros()));
        group.forEach(hash::update);
        return HexFormat.of().formatHex(hash.digest());
    }

    private Map<String, String> entity(List<String> group) {
        Map<String, String> entity = new LinkedHashMap<>();
        for (int i = 0; i < group.size(); i++) {
            String field = rule.groupBy().get(i);
            if (!group.get(i).isEmpty() || !rule.optional().contains(field)) {
                entity.put(field, group.get(i));
            }
        }
        return entity;
    }
}
