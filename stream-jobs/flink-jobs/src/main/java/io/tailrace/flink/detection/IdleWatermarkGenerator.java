package io.tailrace.flink.detection;

import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;

/**
 * Marks a stream as permanently idle, so that only the other input of an operator determines its event time.
 *
 * @param <T> records without a time
 */
final class IdleWatermarkGenerator<T> implements WatermarkGenerator<T> {

    @Override
    public void onEvent(T event, long timestamp, WatermarkOutput output) {
        output.markIdle();
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
        output.markIdle();
    }
}
