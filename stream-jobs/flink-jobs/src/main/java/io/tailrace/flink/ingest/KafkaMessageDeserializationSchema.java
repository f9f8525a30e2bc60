package io.tailrace.flink.ingest;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Passes Kafka records unparsed to an operator, which can create a dead letter from an invalid one. */
public final class KafkaMessageDeserializationSchema implements KafkaRecordDeserializationSchema<KafkaMessage> {

    private static final long serialVersionUID = 1;
    private static final byte[] NOTHING = new byte[0];

    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> message, Collector<KafkaMessage> out) {
        byte[] key = orNothing(message.key());
        byte[] value = orNothing(message.value());
        out.collect(new KafkaMessage(message.topic(), message.partition(), message.offset(), key, value));
    }

    private static byte[] orNothing(byte[] bytes) {
        return bytes == null ? NOTHING : bytes;
    }

    @Override
    public TypeInformation<KafkaMessage> getProducedType() {
        return TypeInformation.of(KafkaMessage.class);
    }
}
