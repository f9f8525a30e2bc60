package io.tailrace.flink.runtime;

import java.util.Optional;

/** One key of a job's configuration. */
public interface JobOption {

    /** Keys with this prefix go to Kafka's clients without it. */
    String KAFKA_PROPERTIES = "kafka.properties.";

    /** As it is written, such as {@code kafka.bootstrap}. */
    String key();

    /** The default; empty for a key that must be given. */
    Optional<String> defaultValue();
}
