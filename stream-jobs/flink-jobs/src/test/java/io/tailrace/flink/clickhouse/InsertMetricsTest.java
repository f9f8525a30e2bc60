package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.metrics.testutils.MetricListener;
import org.junit.jupiter.api.Test;

class InsertMetricsTest {

    @Test
    void failedInsertsAreExportedUnderBothNames() {
        MetricListener metrics = new MetricListener();
        InsertMetrics inserts = new InsertMetrics();
        inserts.register(metrics.getMetricGroup());
        inserts.failed();
        for (String name : new String[] {"failedInserts", "failedPosts"}) {
            assertThat(metrics.<Long>getGauge(name).orElseThrow().getValue()).isEqualTo(1);
        }
        for (String name : new String[] {"oldestInsertSeconds", "oldestPostSeconds"}) {
            assertThat(metrics.<Long>getGauge(name).orElseThrow().getValue()).isZero();
        }
    }
}
