package io.tailrace.flink.detection.rules;

import io.tailrace.detect.RuleRecord;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.correlation.CorrelationEvaluator;
import io.tailrace.detection.dataclass.DataClasses;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.index.RulePrefilter;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The active rules of one subtask. Not thread-safe. */
public final class ActiveRules {

    private final long offset;
    private final RuleSet rules;
    private final DataClasses dataClasses;
    private final Map<String, CorrelationEvaluator> correlators = new HashMap<>();
    private final Map<String, List<CorrelationEvaluator>> byRule = new HashMap<>();
    private final Map<String, StatefulDetector> detectors = new HashMap<>();
    private final Map<String, Integer> levels;
    /** Null until it is asked for: it is large, and one operator of nine asks. */
    private RulePrefilter index;
    /** As the index. */
    private DataClassifier classifier;

    private ActiveRules(long offset, RuleBundle bundle, long latenessMicros) {
        this.offset = offset;
        this.rules = bundle.rules();
        this.dataClasses = bundle.dataClasses();
        this.levels = CorrelationStages.of(rules.correlations());
        for (CorrelationRule rule : rules.correlations()) {
            CorrelationEvaluator correlator = new CorrelationEvaluator(rule, latenessMicros);
            correlators.put(rule.header().key(), correlator);
            rule.rules().forEach(used -> byRule.computeIfAbsent(used, key -> new ArrayList<>())
                    .add(correlator));
        }
        bundle.detectors().forEach(detector -> detectors.put(detector.key(), detector));
    }

    /** @param accepted a push that was validated before it was sent here */
    static ActiveRules of(RuleRecord accepted, long latenessMicros) {
        return new ActiveRules(
                accepted.offset(), CompiledBundle.of(accepted.json()).bundle(), latenessMicros);
    }

    /** Returns the offset of the push. */
    public long offset() {
        return offset;
    }

    /** Returns the compiled rules. */
    public RuleSet rules() {
        return rules;
    }

    /** Returns whether data classes are configured. */
    public boolean hasDataClasses() {
        return !dataClasses.isEmpty();
    }

    public RulePrefilter index() {
        if (index == null) {
            index = new RulePrefilter(rules.rules());
        }
        return index;
    }

    /** Returns the classifier for the data that an event touches. */
    public DataClassifier classifier() {
        if (classifier == null) {
            classifier = new DataClassifier(dataClasses);
        }
        return classifier;
    }

    /** Returns the correlations that use a rule. */
    public List<CorrelationEvaluator> using(String ruleKey) {
        return byRule.getOrDefault(ruleKey, List.of());
    }

    public Optional<CorrelationEvaluator> correlator(String key) {
        return Optional.ofNullable(correlators.get(key));
    }

    public Optional<StatefulDetector> detector(String key) {
        return Optional.ofNullable(detectors.get(key));
    }

    /** Returns the detector of a type, if it is enabled. */
    public <D extends StatefulDetector> Optional<D> detector(Class<D> kind) {
        return detectors.values().stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .findFirst();
    }

    public Iterable<StatefulDetector> detectors() {
        return detectors.values();
    }

    /** Returns the stage of a correlation, from 1. */
    public int level(CorrelationEvaluator correlator) {
        return levels.get(correlator.rule().header().key());
    }
}
