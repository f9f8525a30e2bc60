package io.tailrace.flink.detection.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.detect.RuleRecord;
import io.tailrace.lexer.ByteText;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class InitialRulesTest {

    private static final String TOPIC = "tailrace.rules";
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);

    /** Kafka's mock consumer, which needs no broker. */
    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest");

    @Test
    void allRecordsAreReadAlsoWithHolesThatCompactionLeft() {
        end(8);
        add(2, RuleRecord.BUNDLE);
        add(7, RuleRecord.CANDIDATE);
        assertThat(InitialRules.records(consumer, TOPIC, Duration.ofSeconds(30)))
                .extracting(RuleRecord::offset)
                .containsExactly(2L, 7L);
    }

    @Test
    void anUnavailableBrokerIsNotAwaitedIndefinitely() {
        end(8);
        add(2, RuleRecord.BUNDLE);
        assertThatThrownBy(() -> InitialRules.records(consumer, TOPIC, Duration.ofMillis(100)))
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining("before offset 8, had those before 3");
    }

    @Test
    void anEmptyTopicIsReadAtOnce() {
        end(0);
        assertThat(InitialRules.records(consumer, TOPIC, Duration.ZERO)).isEmpty();
    }

    private void end(long offset) {
        consumer.updateBeginningOffsets(Map.of(PARTITION, 0L));
        consumer.updateEndOffsets(Map.of(PARTITION, offset));
    }

    private void add(long offset, String key) {
        consumer.schedulePollTask(() ->
                consumer.addRecord(new ConsumerRecord<>(TOPIC, 0, offset, ByteText.bytes(key), ByteText.bytes("{}"))));
    }
}
