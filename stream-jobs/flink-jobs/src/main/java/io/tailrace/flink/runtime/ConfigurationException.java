package io.tailrace.flink.runtime;

/** The configuration cannot be used; the message is one sentence for the person who wrote it, so there is no trace. */
public final class ConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1;

    public ConfigurationException(String message) {
        super(message, null, false, false);
    }
}
