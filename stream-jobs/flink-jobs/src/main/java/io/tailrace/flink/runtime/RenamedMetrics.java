package io.tailrace.flink.runtime;

import java.util.Map;
import java.util.Objects;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;

/**
 * Registers a renamed metric under its present and its former name, with the same value.
 *
 * <p>docs/METRICS.md lists both names. The release after the first one with the present names deletes this class.
 */
public final class RenamedMetrics {

    /** The former names by the present ones. */
    static final Map<String, String> FORMER_NAMES = Map.of(
            "insertedRows", "storedRows",
            "rejectedRows", "refusedRows",
            "oldestInsertSeconds", "oldestPostSeconds",
            "failedInserts", "failedPosts",
            "evicted-sessions", "sessions-forgotten-early",
            "orphaned-correlation-inputs", "evidence-without-consumer");

    private RenamedMetrics() {}

    /** Registers a counter. Throws NullPointerException if {@code name} is not the present name of a renamed metric. */
    public static Counter counter(MetricGroup group, String name) {
        Counter counter = group.counter(name);
        group.counter(formerName(name), copy(counter));
        return counter;
    }

    /** Registers a gauge. Throws NullPointerException if {@code name} is not the present name of a renamed metric. */
    public static <T> void gauge(MetricGroup group, String name, Gauge<T> gauge) {
        Gauge<T> copy = gauge::getValue;
        group.gauge(name, gauge);
        group.gauge(formerName(name), copy);
    }

    private static String formerName(String name) {
        return Objects.requireNonNull(FORMER_NAMES.get(name), name);
    }

    /** Flink's REST interface identifies a metric by its object, so the former name needs an object of its own. */
    private static Counter copy(Counter counter) {
        return new SimpleCounter() {
            @Override
            public long getCount() {
                return counter.getCount();
            }
        };
    }
}
