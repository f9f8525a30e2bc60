package io.tailrace.detection.coverage;

import io.tailrace.detection.sigma.RuleHeader;
import java.util.Optional;

/**
 * Whether a rule can fire on the logs that were asked about.
 *
 * @param obstacle why it cannot; empty where it can
 */
public record RuleCoverageResult(RuleHeader rule, Optional<MissingRequirement> obstacle) {

    /** Whether nothing is missing. */
    public boolean canFire() {
        return obstacle.isEmpty();
    }
}
