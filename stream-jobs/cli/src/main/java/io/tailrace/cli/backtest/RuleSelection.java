package io.tailrace.cli.backtest;

import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.stored.RuleFields;
import io.tailrace.detection.stored.StoredFields;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The rules of one version that a backtest evaluates.
 *
 * @param rules the judged rules, and those that their correlations count
 * @param detectors the judged detectors
 * @param notJudged why rules and detectors cannot be judged by stored events
 */
public record RuleSelection(RuleSet rules, List<StatefulDetector> detectors, Map<RuleHeader, String> notJudged) {

    /**
     * Selects rules and detectors. A rule that only correlations use raises alerts of its own if it is selected.
     *
     * @param isSelected decides by the header; a rule that does not alert itself must be named
     * @param isNamed whether the rule was named, and not only selected with all others
     */
    public static RuleSelection of(
            RuleSet all,
            List<StatefulDetector> detectors,
            Predicate<RuleHeader> isSelected,
            Predicate<RuleHeader> isNamed) {
        Map<RuleHeader, String> notJudged = new LinkedHashMap<>();
        Map<String, RuleFields> fields = RuleFields.of(all);
        Set<String> alerting = new HashSet<>();
        List<RuleHeader> active = RuleBundle.withoutReplaced(
                        all,
                        detectors.stream()
                                .filter(each -> isSelected.test(each.header()))
                                .toList())
                .alerting();
        headers(all).filter(isSelected).forEach(header -> {
            Optional<String> obstacle = StoredFields.obstacle(fields.get(header.key()));
            boolean alerts = isNamed.test(header) || active.contains(header);
            if (alerts && obstacle.isPresent()) {
                notJudged.put(header, obstacle.get());
            } else if (alerts) {
                alerting.add(header.key());
            }
        });
        List<StatefulDetector> judged = new ArrayList<>();
        detectors.stream().filter(each -> isSelected.test(each.header())).forEach(detector -> StoredFields.obstacle(
                        detector)
                .ifPresentOrElse(obstacle -> notJudged.put(detector.header(), obstacle), () -> judged.add(detector)));
        return new RuleSelection(reduced(all, alerting), List.copyOf(judged), notJudged);
    }

    private static Stream<RuleHeader> headers(RuleSet rules) {
        return Stream.concat(
                rules.rules().stream().map(SigmaRule::header),
                rules.correlations().stream().map(CorrelationRule::header));
    }

    /** Returns the rules that alert, and those that they count. */
    private static RuleSet reduced(RuleSet all, Set<String> alerting) {
        Set<String> needed = new HashSet<>(alerting);
        List<CorrelationRule> correlations = new ArrayList<>();
        for (int i = all.correlations().size() - 1; i >= 0; i--) {
            CorrelationRule rule = all.correlations().get(i);
            if (needed.contains(rule.header().key())) {
                needed.addAll(rule.rules());
                correlations.add(
                        0, rule.alerting(alerting.contains(rule.header().key())));
            }
        }
        List<SigmaRule> rules = all.rules().stream()
                .filter(rule -> needed.contains(rule.header().key()))
                .map(rule -> new SigmaRule(
                        rule.header(),
                        rule.source(),
                        rule.condition(),
                        alerting.contains(rule.header().key())))
                .toList();
        return new RuleSet(rules, correlations, List.of(), List.of(), all.exceptions());
    }

    /** Returns the headers of all judged rules and detectors. */
    public List<RuleHeader> judged() {
        return Stream.concat(rules.alerting().stream(), detectors.stream().map(StatefulDetector::header))
                .toList();
    }

    /** Returns the fields that the rules use. */
    RuleFields fields() {
        return RuleFields.of(rules).values().stream().reduce(RuleFields.NONE, RuleFields::and);
    }

    /** Returns the longest window of a correlation, microseconds; 0 without correlations. */
    public long longestWindow() {
        return rules.correlations().stream()
                .mapToLong(CorrelationRule::timespanMicros)
                .max()
                .orElse(0);
    }
}
