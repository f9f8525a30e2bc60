package io.tailrace.flink.runtime;

import java.util.Optional;

/** One key of a job's configuration. */
public interface JobOption {

    /** Keys with this prefix are passed to Kafka's clients without it. */
    String KAFKA_PROPERTIES = "kafka.properties.";

    /** Returns the written form, such as {@code kafka.bootstrap}. */
    String key();

    /** Returns the default; empty for a required key. */
    Optional<String> defaultValue();
}
