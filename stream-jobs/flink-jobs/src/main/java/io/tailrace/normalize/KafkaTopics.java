package io.tailrace.normalize;

import io.tailrace.events.EventSerializer;
import io.tailrace.lines.TopicMessage;
import io.tailrace.lines.TopicMessageDeserializer;
import java.util.Properties;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;

/** The job's Kafka sources and sinks. */
final class KafkaTopics {

    private static final String DISCOVERY_MILLIS = "10000";
    private static final String MOST_RECORD_BYTES = Integer.toString(20_000_000);

    private final NormalizeConfig config;

    KafkaTopics(NormalizeConfig config) {
        this.config = config;
    }

    /**
     * Topics are found by pattern, so that one that does not exist yet is no error and is read when it does. Reading
     * starts at the oldest message unless the job is restored: what is in Kafka and not in the state was never read.
     */
    KafkaSource<TopicMessage> lines() {
        return KafkaSource.<TopicMessage>builder()
                .setBootstrapServers(config.kafkaBootstrap())
                .setGroupId(config.kafkaGroup())
                .setClientIdPrefix(config.kafkaGroup())
                .setTopicPattern(config.linesTopics())
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setDeserializer(new TopicMessageDeserializer())
                .setProperties(consumerProperties())
                .build();
    }

    private Properties consumerProperties() {
        Properties properties = clientProperties();
        properties.setProperty("partition.discovery.interval.ms", DISCOVERY_MILLIS);
        properties.setProperty(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "5000");
        properties.setProperty(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, Integer.toString(2 << 20));
        properties.setProperty(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, Integer.toString(8 << 20));
        properties.putAll(config.kafkaProperties());
        return properties;
    }

    /** At least once: readers remove duplicates by the events' places in their logs. */
    <T extends SpecificRecord> KafkaSink<T> events(Class<T> recordClass) {
        return KafkaSink.<T>builder()
                .setBootstrapServers(config.kafkaBootstrap())
                .setRecordSerializer(new EventSerializer<>(config.eventsTopic(), recordClass))
                .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
                .setKafkaProducerConfig(producerProperties())
                .build();
    }

    /** A broker that is away is waited for: failing the job would read the same lines again and wait again. */
    private Properties producerProperties() {
        Properties properties = clientProperties();
        properties.setProperty(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.toString(Integer.MAX_VALUE));
        properties.setProperty(ProducerConfig.MAX_BLOCK_MS_CONFIG, Integer.toString(Integer.MAX_VALUE));
        properties.setProperty(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, MOST_RECORD_BYTES);
        properties.setProperty(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        properties.setProperty(ProducerConfig.LINGER_MS_CONFIG, "50");
        properties.setProperty(ProducerConfig.BATCH_SIZE_CONFIG, Integer.toString(256 << 10));
        properties.putAll(config.kafkaProperties());
        return properties;
    }

    /** Every try to reach a broker that is away is a line of the log. */
    private static Properties clientProperties() {
        Properties properties = new Properties();
        properties.setProperty(CommonClientConfigs.RECONNECT_BACKOFF_MS_CONFIG, "200");
        properties.setProperty(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, "5000");
        return properties;
    }
}
