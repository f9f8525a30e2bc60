package io.tailrace.flink.config;

import io.tailrace.flink.clickhouse.ClickHouseConnection;
import io.tailrace.flink.clickhouse.PseudonymKeys;
import io.tailrace.flink.runtime.ConfigParser;
import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.KafkaClientConfig;
import io.tailrace.flink.runtime.SharedJobOptions;
import java.util.Optional;

/**
 * The part of the configuration of a job that both jobs read from the same keys: those of {@link SharedJobOptions} and
 * {@code kafka.properties.*}. It is immutable, and {@link ConfigParser} defines the sources of values.
 */
public abstract class SharedJobConfig {

    protected final ConfigParser values;

    /**
     * Reads every shared value once, so that an invalid one is an error at start instead of in an operator. {@code
     * JobConfig} reads those of Flink.
     *
     * @throws ConfigurationException if a value cannot be used
     */
    protected SharedJobConfig(ConfigParser values) {
        this.values = values;
        kafka();
        clickHouse();
        clickHouseDatabase();
        pseudonyms();
    }

    public final KafkaClientConfig kafka() {
        return KafkaClientConfig.of(values);
    }

    public final ClickHouseConnection clickHouse() {
        return ClickHouseConnection.of(values);
    }

    public final String clickHouseDatabase() {
        return values.notEmpty(SharedJobOptions.CLICKHOUSE_DATABASE);
    }

    /** Returns the keys of the pseudonyms that replace names in rows; empty: names are stored as they are. */
    public final Optional<PseudonymKeys> pseudonyms() {
        return PseudonymKeys.of(values);
    }

    /** Returns the checkpoint to restore; empty to start without state. */
    public final String restorePath() {
        return values.text(SharedJobOptions.RESTORE_PATH);
    }
}
