package io.tailrace.flink.kafka;

import io.tailrace.event.Alert;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Publishes alerts in Avro's single-object encoding. The key is the id of the alert, in hexadecimal digits. */
public final class AlertSerializationSchema implements KafkaRecordSerializationSchema<Alert> {

    private static final long serialVersionUID = 1;

    private final String topic;
    private transient SingleObjectEncoder<Alert> encoder;

    public AlertSerializationSchema(String topic) {
        this.topic = topic;
    }

    @Override
    public ProducerRecord<byte[], byte[]> serialize(Alert alert, KafkaSinkContext context, Long timestamp) {
        if (encoder == null) {
            encoder = new SingleObjectEncoder<>(Alert.class);
        }
        String key = HexFormat.of().formatHex(alert.getAlertId().bytes());
        return new ProducerRecord<>(topic, key.getBytes(StandardCharsets.US_ASCII), encoder.encode(alert));
    }
}
