package io.tailrace.flink.detection.liveness;

import io.tailrace.flink.ingest.CensusMessage;
import io.tailrace.reassembly.CensusRecord;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.metrics.Counter;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Extracts heartbeats from the census topic. A record that is not a census is counted and skipped. */
public final class CensusHeartbeatDeserializationSchema implements KafkaRecordDeserializationSchema<CensusHeartbeat> {

    private static final long serialVersionUID = 1;
    private static final byte[] NOTHING = new byte[0];

    private transient CensusMessage census;
    private transient Counter undecodable;

    @Override
    public void open(DeserializationSchema.InitializationContext context) {
        census = new CensusMessage();
        undecodable = context.getMetricGroup().counter("undecodable-census");
    }

    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> message, Collector<CensusHeartbeat> out) {
        String error = census.read(message.value() == null ? NOTHING : message.value());
        if (error.isEmpty()) {
            CensusRecord record = census.record();
            out.collect(new CensusHeartbeat(record.instance(), record.cluster(), record.at()));
        } else {
            undecodable.inc();
        }
    }

    @Override
    public TypeInformation<CensusHeartbeat> getProducedType() {
        return TypeInformation.of(CensusHeartbeat.class);
    }
}
