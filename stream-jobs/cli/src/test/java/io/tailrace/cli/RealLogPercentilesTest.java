package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.tailrace.cli.digest.aggregate.LatencyHistogram;
import io.tailrace.cli.input.LogEventHandler;
import io.tailrace.cli.input.LogReader;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares percentiles of logs of real servers with exact weighted ones. */
class RealLogPercentilesTest {

    private static final List<ToDoubleFunction<QueryEvent>> MEASURES = List.of(
            QueryEvent::getQueryTime, QueryEvent::getLockTime, QueryEvent::getRowsExamined, QueryEvent::getRowsSent);

    /** Stores the events. */
    private static final class Events implements LogEventHandler {

        private final List<QueryEvent> events = new ArrayList<>();

        @Override
        public void query(QueryEvent event, String fingerprint, String statement) {
            events.add(event);
        }

        @Override
        public void audit(AuditEvent event, String fingerprint, String statement) {
            throw new AssertionError("a slow log holds no such event");
        }

        @Override
        public void error(ErrorEvent event) {
            throw new AssertionError("a slow log holds no such event");
        }

        @Override
        public void deadLetter(Refusal refusal) {}

        @Override
        public void banner(String line) {}
    }

    private static List<QueryEvent> events(Path log) throws IOException {
        LogFormat format = new FormatRegistry().named("mysql-slow").orElseThrow();
        LogOrigin origin = new LogOrigin("", "db1", "slowlog", "mysql-slow", "UTC", "/slow.log");
        Events events = new Events();
        new LogReader(Files.readAllBytes(log), InputStream.nullInputStream(), format, origin, events).read();
        return events.events;
    }

    @ParameterizedTest
    @ValueSource(strings = {"../../samples/mysql-8.0.46.slow.log", "src/test/resources/golden/digest/percona.log"})
    void areWithinOnePercent(String log) throws IOException {
        List<QueryEvent> events = events(Path.of(log));
        assertThat(events).hasSizeGreaterThan(20);
        for (ToDoubleFunction<QueryEvent> measure : MEASURES) {
            LatencyHistogram buckets =
                    new LatencyHistogram(measure == MEASURES.get(0) || measure == MEASURES.get(1) ? 1e-6 : 1);
            events.forEach(event -> buckets.add(measure.applyAsDouble(event), event.getWeight()));
            events.sort(Comparator.comparingDouble(measure));
            for (double part : new double[] {0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1}) {
                double exact = exact(events, measure, part);
                assertThat(buckets.quantile(part)).isCloseTo(exact, within(exact * 0.01));
            }
        }
    }

    private static double exact(List<QueryEvent> sorted, ToDoubleFunction<QueryEvent> measure, double part) {
        double wanted =
                part * sorted.stream().mapToDouble(QueryEvent::getWeight).sum();
        double seen = 0;
        for (QueryEvent event : sorted) {
            seen += event.getWeight();
            if (seen >= wanted) {
                return measure.applyAsDouble(event);
            }
        }
        throw new AssertionError("the weights do not add up");
    }
}
