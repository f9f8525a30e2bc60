package io.tailrace.flink.detection.rules;

import io.tailrace.detect.RuleRecord;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads pushes and suppressions from their topic without parsing them. */
public final class RuleRecordDeserializationSchema implements KafkaRecordDeserializationSchema<RuleRecord> {

    private static final long serialVersionUID = 1;

    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> message, Collector<RuleRecord> out) {
        out.collect(record(message));
    }

    static RuleRecord record(ConsumerRecord<byte[], byte[]> message) {
        return new RuleRecord(message.offset(), text(message.key()), text(message.value()));
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public TypeInformation<RuleRecord> getProducedType() {
        return TypeInformation.of(RuleRecord.class);
    }
}
