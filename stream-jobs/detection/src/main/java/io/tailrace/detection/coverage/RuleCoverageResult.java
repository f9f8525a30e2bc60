package io.tailrace.detection.coverage;

import io.tailrace.detection.sigma.rule.RuleHeader;
import java.util.Optional;

/**
 * Whether a rule can fire on the evaluated logs.
 *
 * @param obstacle why it cannot fire; empty if it can
 */
public record RuleCoverageResult(RuleHeader rule, Optional<MissingRequirement> obstacle) {

    /** Returns whether no requirement is missing. */
    public boolean canFire() {
        return obstacle.isEmpty();
    }
}
