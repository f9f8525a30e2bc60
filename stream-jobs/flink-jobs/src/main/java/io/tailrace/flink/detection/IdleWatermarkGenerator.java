package io.tailrace.flink.detection;

import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;

/**
 * Has no part in event time: idle for good, so that an operator with two inputs goes by the other one alone.
 *
 * @param <T> what has no time
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
