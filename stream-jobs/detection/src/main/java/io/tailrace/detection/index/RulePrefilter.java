package io.tailrace.detection.index;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldPlace;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.SigmaRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Finds the rules that match an event without evaluating all of them. Each rule is indexed by texts, numbers or fields
 * of which a matching event has at least one. Not thread-safe.
 */
public final class RulePrefilter {

    /** Limits the cache of log sources, of which there are few. */
    private static final int MAX_SOURCES = 64;

    private final List<SigmaRule> rules;
    /** Those of {@link #places}, in the same order. */
    private final List<FieldPrefilter> byPlace = new ArrayList<>();
    /** The places of fields with terms. */
    private final int[] places;
    /** Those of fields without a place. */
    private final Map<String, FieldPrefilter> byField = new HashMap<>();
    /** Terms that any field may satisfy; null if there are none. */
    private final FieldPrefilter anyField;
    /** Rules without terms, which are always evaluated. */
    private final int[] unanchored;

    private final Map<LogSource, BitSet> bySource = new HashMap<>();
    private LogSource lastSource;
    private BitSet lastApplicable;
    private final BitSet seen = new BitSet();
    private final FieldPrefilter.Candidates collector = this::add;
    private int[] candidates = new int[64];
    private int count;

    public RulePrefilter(List<SigmaRule> rules) {
        this.rules = List.copyOf(rules);
        Map<String, FieldPrefilter.Builder> builders = new HashMap<>();
        int[] always = new int[rules.size()];
        int alwaysCount = 0;
        for (int rule = 0; rule < rules.size(); rule++) {
            List<PrefilterTerm> anchors = PrefilterTerm.of(rules.get(rule).condition());
            if (anchors.isEmpty()) {
                always[alwaysCount++] = rule;
            }
            for (PrefilterTerm anchor : anchors) {
                builders.computeIfAbsent(anchor.field(), field -> new FieldPrefilter.Builder())
                        .add(anchor, rule);
            }
        }
        builders.forEach((field, builder) -> byField.put(field, builder.build()));
        anyField = byField.remove("");
        places = byField.keySet().stream()
                .mapToInt(FieldPlace::of)
                .filter(place -> place != FieldPlace.NONE)
                .toArray();
        for (int place : places) {
            byPlace.add(byField.remove(FieldPlace.name(place)));
        }
        unanchored = Arrays.copyOf(always, alwaysCount);
    }

    /** Passes the matching rules, in the order in which they were given. */
    public void match(DetectionEvent event, Consumer<SigmaRule> matched) {
        BitSet applicable = bySource(event.source());
        collect(event);
        Arrays.sort(candidates, 0, count);
        for (int i = 0; i < count; i++) {
            int rule = candidates[i];
            seen.clear(rule);
            if (applicable.get(rule) && rules.get(rule).condition().matches(event)) {
                matched.accept(rules.get(rule));
            }
        }
    }

    private BitSet bySource(LogSource source) {
        if (!source.equals(lastSource)) {
            lastApplicable = applicable(source);
            lastSource = source;
        }
        return lastApplicable;
    }

    private BitSet applicable(LogSource source) {
        BitSet applicable = bySource.get(source);
        if (applicable == null) {
            applicable = new BitSet();
            for (int rule = 0; rule < rules.size(); rule++) {
                applicable.set(
                        rule,
                        LogSource.ANY.equals(source) || rules.get(rule).source().covers(source));
            }
            if (bySource.size() < MAX_SOURCES) {
                bySource.put(source, applicable);
            }
        }
        return applicable;
    }

    private void collect(DetectionEvent event) {
        count = 0;
        add(unanchored);
        for (int i = 0; i < places.length; i++) {
            List<FieldValue> values = event.values(places[i]);
            if (!values.isEmpty()) {
                byPlace.get(i).candidates(values, collector);
            }
        }
        if (!byField.isEmpty()) {
            collectOthers(event.fieldsWithoutPlace());
        }
        if (anyField != null) {
            event.fields().values().forEach(values -> anyField.candidates(values, collector));
        }
    }

    /** Searches for the fewer names: events may have many attributes, rules for other logs many fields. */
    private void collectOthers(Map<String, List<FieldValue>> others) {
        if (byField.size() < others.size()) {
            byField.forEach((field, terms) -> collectOther(terms, others.get(field)));
        } else {
            others.forEach((field, values) -> collectOther(byField.get(field), values));
        }
    }

    private void collectOther(FieldPrefilter terms, List<FieldValue> values) {
        if (terms != null && values != null) {
            terms.candidates(values, collector);
        }
    }

    private void add(int[] found) {
        for (int rule : found) {
            if (!seen.get(rule)) {
                seen.set(rule);
                if (count == candidates.length) {
                    candidates = Arrays.copyOf(candidates, count * 2);
                }
                candidates[count++] = rule;
            }
        }
    }
}
