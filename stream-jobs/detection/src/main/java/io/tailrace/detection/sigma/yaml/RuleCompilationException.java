package io.tailrace.detection.sigma.yaml;

/** Reports that a rule, or another part of a file, cannot be compiled. The reader of its document catches it. */
public final class RuleCompilationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient RuleError error;

    public RuleCompilationException(RuleError error) {
        super(error.toString(), null, false, false);
        this.error = error;
    }

    public RuleError error() {
        return error;
    }
}
