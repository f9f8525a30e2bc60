package io.tailrace.detection.coverage;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.RuleSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The results of one rule set, computed once for all servers whose logs have the same contents. A push of rules asks for
 * those of every server at once. Not thread-safe.
 *
 * <p>Memory: the results of at most {@value #MOST} different contents.
 */
public final class RuleCoverageAnswers {

    private static final int MOST = 256;
    private static final float LOAD_FACTOR = 0.75f;

    private final RuleSet rules;
    private final boolean withDataClasses;
    private final Map<Map<LogSource, ObservedFields>, List<RuleCoverageResult>> latest =
            new LinkedHashMap<>(MOST, LOAD_FACTOR, true) {
                @Override
                protected boolean removeEldestEntry(
                        Map.Entry<Map<LogSource, ObservedFields>, List<RuleCoverageResult>> eldest) {
                    return size() > MOST;
                }
            };
    private long evaluations;

    /**
     * @param rules rules that were compiled together
     * @param withDataClasses whether data classes are configured
     */
    public RuleCoverageAnswers(RuleSet rules, boolean withDataClasses) {
        this.rules = rules;
        this.withDataClasses = withDataClasses;
    }

    /** Returns whether the results are those of these rules. */
    public boolean areOf(RuleSet others, boolean withClasses) {
        return rules == others && withDataClasses == withClasses;
    }

    /** Returns how often rules were evaluated. */
    public long evaluations() {
        return evaluations;
    }

    /** Returns {@link RuleCoverageEvaluator#answers} of logs, which must not change any more. */
    List<RuleCoverageResult> of(Map<LogSource, ObservedFields> logs) {
        List<RuleCoverageResult> known = latest.get(logs);
        if (known != null) {
            return known;
        }
        evaluations++;
        List<RuleCoverageResult> answers = RuleCoverageEvaluator.answers(rules, withDataClasses, logs);
        latest.put(logs, answers);
        return answers;
    }
}
