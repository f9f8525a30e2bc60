package io.tailrace.flink.idle;

import org.apache.flink.api.connector.source.SourceEvent;

/**
 * A message of a reader to its enumerator.
 *
 * @param isReading whether the reader has read records since the checkpoint before
 */
record ReadingEvent(boolean isReading) implements SourceEvent {

    private static final long serialVersionUID = 1;
}
