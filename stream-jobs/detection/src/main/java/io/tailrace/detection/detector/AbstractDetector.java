package io.tailrace.detection.detector;

import io.tailrace.detection.sigma.RuleHeader;

/** A detector whose behaviour depends only on its definition. */
public abstract class AbstractDetector implements StatefulDetector {

    public final DetectorDefinition basis;

    public AbstractDetector(DetectorDefinition basis) {
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
