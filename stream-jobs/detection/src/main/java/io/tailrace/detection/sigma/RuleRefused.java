package io.tailrace.detection.sigma;

/** A rule cannot be compiled. Caught where its document is read. */
final class RuleRefused extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient RuleError error;

    RuleRefused(RuleError error) {
        super(error.toString(), null, false, false);
        this.error = error;
    }

    RuleError error() {
        return error;
    }
}
