package io.tailrace.flink.runtime;

/** Reports an invalid configuration. The message is one sentence for its author, so there is no stack trace. */
public final class ConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1;

    public ConfigurationException(String message) {
        super(message, null, false, false);
    }
}
