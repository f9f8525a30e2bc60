package io.tailrace.flink.runtime;

import java.io.Serializable;
import java.util.Properties;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * The settings of the jobs' Kafka clients.
 *
 * @param bootstrap addresses, {@code host:port} separated by commas
 * @param given settings of the configuration; they override the defaults
 */
public record KafkaClientConfig(String bootstrap, Properties given) implements Serializable {

    private static final String DISCOVERY_MILLIS = "10000";
    /**
     * How long a broker holds a fetch request that finds no record. A record answers it at once. With Kafka's default of
     * 500 ms, requests of idle consumers took a fifth of the CPU time of an idle stack.
     */
    private static final String FETCH_MAX_WAIT_MILLIS = "5000";

    private static final String DELIVERY_TIMEOUT_MILLIS = "3600000";
    private static final String MAX_RECORD_BYTES = Integer.toString(20_000_000);

    /**
     * Returns Kafka's addresses and the settings {@code kafka.properties.*} of these values.
     *
     * @throws ConfigurationException if the addresses are empty
     */
    public static KafkaClientConfig of(ConfigParser values) {
        return new KafkaClientConfig(values.notEmpty(SharedJobOptions.KAFKA_BOOTSTRAP), values.kafkaProperties());
    }

    /**
     * Returns settings that wait for an unavailable broker: sources look for new partitions, and fail the job if there
     * is no response.
     */
    public Properties consumerProperties() {
        Properties properties = clientProperties();
        properties.setProperty(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, DELIVERY_TIMEOUT_MILLIS);
        properties.setProperty("partition.discovery.interval.ms", DISCOVERY_MILLIS);
        properties.setProperty(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, FETCH_MAX_WAIT_MILLIS);
        properties.setProperty(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "5000");
        properties.setProperty(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, Integer.toString(2 << 20));
        properties.setProperty(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, Integer.toString(8 << 20));
        properties.putAll(given);
        return properties;
    }

    /**
     * Returns settings that wait for an unavailable broker: failing the job would read the same input again and wait
     * again.
     *
     * @param lingerMillis how long a record waits for others
     */
    public Properties producerProperties(int lingerMillis) {
        Properties properties = clientProperties();
        properties.setProperty(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.toString(Integer.MAX_VALUE));
        properties.setProperty(ProducerConfig.MAX_BLOCK_MS_CONFIG, Integer.toString(Integer.MAX_VALUE));
        properties.setProperty(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, MAX_RECORD_BYTES);
        properties.setProperty(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        properties.setProperty(ProducerConfig.LINGER_MS_CONFIG, Integer.toString(lingerMillis));
        properties.setProperty(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(256 << 10));
        properties.putAll(given);
        return properties;
    }

    /** Lengthens the delay of reconnects, because every attempt to reach an unavailable broker is a line of the log. */
    private static Properties clientProperties() {
        Properties properties = new Properties();
        properties.setProperty(CommonClientConfigs.RECONNECT_BACKOFF_MS_CONFIG, "200");
        properties.setProperty(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, "5000");
        return properties;
    }
}
