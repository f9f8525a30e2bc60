package io.tailrace.clickhouse;

import org.apache.flink.connector.base.sink.writer.strategy.RateLimitingStrategy;
import org.apache.flink.connector.base.sink.writer.strategy.RequestInfo;
import org.apache.flink.connector.base.sink.writer.strategy.ResultInfo;

/**
 * Sends the next rows when the last ones are answered. Flink's own strategy makes batches smaller after a failure, down to
 * single rows, which a server that was away needs least.
 */
final class OneInsertAtATime implements RateLimitingStrategy {

    private final int mostRows;
    private int underWay;

    OneInsertAtATime(int mostRows) {
        this.mostRows = mostRows;
    }

    @Override
    public void registerInFlightRequest(RequestInfo request) {
        underWay++;
    }

    @Override
    public void registerCompletedRequest(ResultInfo result) {
        underWay--;
    }

    @Override
    public boolean shouldBlock(RequestInfo request) {
        return underWay > 0;
    }

    @Override
    public int getMaxBatchSize() {
        return mostRows;
    }
}
