package io.tailrace.flink.detection.rules;

import io.tailrace.detect.RuleRecord;
import io.tailrace.flink.runtime.KafkaClientConfig;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The contents of the rules topic when the job started, so that no event is evaluated before the rules are known.
 *
 * @param bundle the newest valid push; {@link RuleRecord#NO_RULES} without one
 * @param silences suppressions that were not ended, by key
 * @param lastOffset offset of the newest record; -1 if the topic is empty
 */
public record InitialRules(RuleRecord bundle, Map<String, RuleRecord> silences, long lastOffset)
        implements Serializable {

    private static final Duration POLL_TIMEOUT = Duration.ofMillis(500);
    private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(60);

    /** No rules and no suppressions. */
    public static final InitialRules NONE = new InitialRules(RuleRecord.NO_RULES, Map.of(), -1);

    public boolean hasBundle() {
        return !bundle.equals(RuleRecord.NO_RULES);
    }

    public static InitialRules read(KafkaClientConfig clients, String topic) {
        Properties properties = clients.consumerProperties();
        properties.remove("partition.discovery.interval.ms");
        properties.setProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, clients.bootstrap());
        properties.setProperty(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<PartitionInfo> partitions = consumer.partitionsFor(topic, RESPONSE_TIMEOUT);
            return partitions == null || partitions.isEmpty() ? NONE : of(records(consumer, topic, RESPONSE_TIMEOUT));
        }
    }

    /**
     * Reads all current records of the topic.
     *
     * @param timeout maximum time without a record or an error; an unavailable broker is retried within it
     * @throws TimeoutException after the timeout: the job fails, and its supervisor restarts it
     */
    static List<RuleRecord> records(Consumer<byte[], byte[]> consumer, String topic, Duration timeout) {
        TopicPartition partition = new TopicPartition(topic, 0);
        consumer.assign(List.of(partition));
        consumer.seekToBeginning(List.of(partition));
        long end = consumer.endOffsets(List.of(partition), RESPONSE_TIMEOUT).get(partition);
        List<RuleRecord> records = new ArrayList<>();
        long position = consumer.position(partition, RESPONSE_TIMEOUT);
        long moved = System.nanoTime();
        while (position < end) {
            consumer.poll(POLL_TIMEOUT)
                    .forEach(message -> records.add(RuleRecordDeserializationSchema.record(message)));
            long before = position;
            position = consumer.position(partition, RESPONSE_TIMEOUT);
            moved = position > before ? System.nanoTime() : moved;
            if (System.nanoTime() - moved > timeout.toNanos()) {
                throw new TimeoutException("expected the records of " + topic + " before offset " + end
                        + ", had those before " + position + " and no other came within "
                        + timeout.toSeconds() + " s");
            }
        }
        return records;
    }

    /** @param records in the order of the topic */
    static InitialRules of(List<RuleRecord> records) {
        Map<String, RuleRecord> silences = new HashMap<>();
        records.stream().filter(RuleRecord::isSilence).forEach(silence -> {
            if (silence.json().isEmpty()) {
                silences.remove(silence.key());
            } else {
                silences.put(silence.key(), silence);
            }
        });
        long last = records.isEmpty() ? -1 : records.get(records.size() - 1).offset();
        return new InitialRules(newestGood(records), silences, last);
    }

    private static RuleRecord newestGood(List<RuleRecord> records) {
        for (int i = records.size() - 1; i >= 0; i--) {
            RuleRecord record = records.get(i);
            if (record.isBundle()
                    && !record.json().isEmpty()
                    && !CompiledBundle.of(record.json()).isRefused()) {
                return record;
            }
        }
        return RuleRecord.NO_RULES;
    }
}
