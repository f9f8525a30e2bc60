package io.tailrace.flink.ingest;

import io.tailrace.flink.idle.PeriodicRecords;

/**
 * The census messages of a lines topic. Collectors send them at a fixed interval, whether or not a log grows. Not
 * thread-safe.
 */
public final class CensusMessages implements PeriodicRecords<KafkaMessage> {

    private static final long serialVersionUID = 1;

    private transient LineMessage line;

    @Override
    public boolean contain(KafkaMessage message) {
        if (line == null) {
            line = new LineMessage();
        }
        line.read(message.value());
        return line.isCensus();
    }
}
