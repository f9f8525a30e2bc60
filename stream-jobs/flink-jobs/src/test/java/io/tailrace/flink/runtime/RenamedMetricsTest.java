package io.tailrace.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.servers.Repository;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.testutils.MetricListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RenamedMetricsTest {

    private final MetricListener metrics = new MetricListener();

    static List<String> names() {
        return List.copyOf(RenamedMetrics.FORMER_NAMES.keySet());
    }

    @ParameterizedTest
    @MethodSource("names")
    void aCounterHasTheSameValueUnderItsFormerName(String name) {
        Counter counter = RenamedMetrics.counter(metrics.getMetricGroup(), name);
        counter.inc(3);
        counter.dec();
        Counter present = metrics.getCounter(name).orElseThrow();
        Counter former =
                metrics.getCounter(RenamedMetrics.FORMER_NAMES.get(name)).orElseThrow();
        assertThat(present).isSameAs(counter);
        // Flink's REST interface would show only one of two names of one object.
        assertThat(former).isNotEqualTo(counter);
        assertThat(List.of(present.getCount(), former.getCount())).containsExactly(2L, 2L);
    }

    @ParameterizedTest
    @MethodSource("names")
    void aGaugeHasTheSameValueUnderItsFormerName(String name) {
        List<String> waiting = new ArrayList<>();
        RenamedMetrics.gauge(metrics.getMetricGroup(), name, waiting::size);
        waiting.add("a block");
        Gauge<Integer> present = metrics.<Integer>getGauge(name).orElseThrow();
        Gauge<Integer> former =
                metrics.<Integer>getGauge(RenamedMetrics.FORMER_NAMES.get(name)).orElseThrow();
        assertThat(former).isNotEqualTo(present);
        assertThat(List.of(present.getValue(), former.getValue())).containsExactly(1, 1);
    }

    @Test
    void rejectsANameThatIsNotRenamed() {
        assertThatThrownBy(() -> RenamedMetrics.counter(metrics.getMetricGroup(), "pendingBytes"))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("pendingBytes");
    }

    @ParameterizedTest
    @MethodSource("names")
    void theDocumentationListsBothNames(String name) throws Exception {
        String documentation = Files.readString(Repository.root().resolve("docs/METRICS.md"));
        String row = exported(name) + " | " + exported(RenamedMetrics.FORMER_NAMES.get(name));
        assertThat(documentation.replace("`", "")).contains("| " + row + " |");
    }

    /** Flink's Prometheus reporter writes an underscore for each character that Prometheus rejects. */
    private static String exported(String name) {
        String group = name.contains("-") ? "" : "clickhouse_";
        return "flink_taskmanager_job_task_operator_" + group + name.replace('-', '_');
    }
}
