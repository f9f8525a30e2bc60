package org.apache.flink.metrics.prometheus;

import java.util.Properties;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/** Creates a {@link LoopbackPrometheusReporter} with the property {@code port}. */
public final class LoopbackPrometheusReporterFactory implements MetricReporterFactory {

    @Override
    public MetricReporter createMetricReporter(Properties properties) {
        return new LoopbackPrometheusReporter(((MetricConfig) properties).getInteger("port", 0));
    }
}
