package io.tailrace.flink.normalize;

import io.tailrace.flink.ingest.TopicMessage;
import io.tailrace.flink.ingest.TopicMessageDeserializer;
import io.tailrace.flink.kafka.EventSerializer;
import io.tailrace.flink.runtime.KafkaClients;
import java.util.regex.Pattern;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;

/** The job's Kafka sources and sinks. */
final class KafkaTopics {

    private static final int LINGER_MILLIS = 50;

    private final NormalizeConfig config;
    private final KafkaClients clients;

    KafkaTopics(NormalizeConfig config) {
        this.config = config;
        this.clients = new KafkaClients(config.kafkaBootstrap(), config.kafkaProperties());
    }

    /**
     * Topics are found by pattern, so that one that does not exist yet is no error and is read when it does. Reading
     * starts at the oldest message unless the job is restored: what is in Kafka and not in the state was never read.
     */
    KafkaSource<TopicMessage> lines() {
        return source(config.linesTopics(), config.kafkaGroup());
    }

    /** The same, of spans. */
    KafkaSource<TopicMessage> spans() {
        return source(Pattern.compile(Pattern.quote(config.spansTopic())), config.kafkaGroup() + "-spans");
    }

    private KafkaSource<TopicMessage> source(Pattern topics, String group) {
        return KafkaSource.<TopicMessage>builder()
                .setBootstrapServers(config.kafkaBootstrap())
                .setGroupId(group)
                .setClientIdPrefix(group)
                .setTopicPattern(topics)
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setDeserializer(new TopicMessageDeserializer())
                .setProperties(clients.consumerProperties())
                .build();
    }

    /** At least once: readers remove duplicates by the events' places in their logs. */
    <T extends SpecificRecord> KafkaSink<T> events(Class<T> recordClass) {
        return KafkaSink.<T>builder()
                .setBootstrapServers(config.kafkaBootstrap())
                .setRecordSerializer(new EventSerializer<>(config.eventsTopic(), recordClass))
                .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
                .setKafkaProducerConfig(clients.producerProperties(LINGER_MILLIS))
                .build();
    }
}
