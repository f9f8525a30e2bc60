package io.tailrace.flink.detection.events;

import java.io.IOException;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.metrics.Counter;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads events from their topic. An invalid record is counted and skipped; it never stops the job. */
public final class EventRecordDeserializationSchema implements KafkaRecordDeserializationSchema<EventRecord> {

    private static final long serialVersionUID = 1;
    private static final Logger LOG = LoggerFactory.getLogger(EventRecordDeserializationSchema.class);
    /** Maximum number of warnings in the log; all invalid records are counted. */
    private static final int MAX_WARNINGS = 100;

    private transient EventDecoder reader;
    private transient Counter undecodable;

    @Override
    public void open(DeserializationSchema.InitializationContext context) {
        reader = new EventDecoder();
        undecodable = context.getMetricGroup().counter("undecodable-events");
    }

    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> message, Collector<EventRecord> out) {
        try {
            out.collect(reader.place(message.value()));
        } catch (IOException e) {
            undecodable.inc();
            if (undecodable.getCount() <= MAX_WARNINGS) {
                LOG.warn(
                        "skipped the record at {}, partition {}, offset {}: {}",
                        message.topic(),
                        message.partition(),
                        message.offset(),
                        e.getMessage());
            }
        }
    }

    @Override
    public TypeInformation<EventRecord> getProducedType() {
        return TypeInformation.of(EventRecord.class);
    }
}
