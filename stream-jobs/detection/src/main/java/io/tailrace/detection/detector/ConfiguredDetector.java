package io.tailrace.detection.detector;

import io.tailrace.detection.sigma.RuleHeader;

/** A detector that is what its settings make of it. */
public abstract class ConfiguredDetector implements StatefulDetector {

    public final DetectorBasis basis;

    public ConfiguredDetector(DetectorBasis basis) {
        this.basis = basis;
    }

    @Override
    public final RuleHeader header() {
        return basis.header();
    }

    @Override
    public final long ttlMicros() {
        return basis.ttlMicros();
    }
}
