package io.tailrace.flink.normalize;

import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.ingest.KafkaMessageDeserializationSchema;
import io.tailrace.flink.kafka.EventSerializationSchema;
import io.tailrace.flink.kafka.RarelyMeasuredKafkaSink;
import io.tailrace.flink.runtime.KafkaClientConfig;
import java.util.regex.Pattern;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/** Creates the Kafka sources and sinks of the job. */
final class KafkaConnectors {

    private static final int LINGER_MILLIS = 50;

    private final NormalizeJobConfig config;
    private final KafkaClientConfig clients;

    KafkaConnectors(NormalizeJobConfig config) {
        this.config = config;
        this.clients = config.kafka();
    }

    /**
     * Topics are found by pattern, so that a topic that is created later is no error and is read then. Without restored
     * state, the job reads from the oldest message, because messages that are in Kafka but not in the state were never
     * read.
     */
    KafkaSource<KafkaMessage> lines() {
        return source(config.linesTopics(), config.kafkaGroup());
    }

    /** Creates the source of spans, likewise. */
    KafkaSource<KafkaMessage> spans() {
        return source(config.spansTopic(), "-spans");
    }

    /**
     * Creates the source of signed ranges, likewise, without those of aborted transactions: a puller uses their sequence
     * numbers again.
     */
    KafkaSource<KafkaMessage> signedRanges() {
        return builder(quoted(config.signedRangesTopic()), config.kafkaGroup() + "-signed")
                .setProperty(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed")
                .build();
    }

    /** Creates the source of the registered keys of hosts, likewise. */
    KafkaSource<KafkaMessage> hostKeys() {
        return source(config.hostKeysTopic(), "-keys");
    }

    private KafkaSource<KafkaMessage> source(String topic, String group) {
        return source(quoted(topic), config.kafkaGroup() + group);
    }

    private static Pattern quoted(String topic) {
        return Pattern.compile(Pattern.quote(topic));
    }

    private KafkaSource<KafkaMessage> source(Pattern topics, String group) {
        return builder(topics, group).build();
    }

    private KafkaSourceBuilder<KafkaMessage> builder(Pattern topics, String group) {
        return KafkaSource.<KafkaMessage>builder()
                .setBootstrapServers(clients.bootstrap())
                .setGroupId(group)
                .setClientIdPrefix(group)
                .setTopicPattern(topics)
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setDeserializer(new KafkaMessageDeserializationSchema())
                .setProperties(clients.consumerProperties());
    }

    /** At least once: readers remove duplicates by the positions of events in their logs. */
    <T extends SpecificRecord> Sink<T> events(Class<T> recordClass) {
        return new RarelyMeasuredKafkaSink<>(KafkaSink.<T>builder()
                .setBootstrapServers(clients.bootstrap())
                .setRecordSerializer(new EventSerializationSchema<>(config.eventsTopic(), recordClass))
                .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
                .setKafkaProducerConfig(clients.producerProperties(LINGER_MILLIS))
                .build());
    }
}
