package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.LogReader;
import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import io.tailrace.testing.PropertyTestBudget;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Verifies with three logs of one real server, which recorded the same run, that all of them together result in the
 * actions of one.
 */
@Tag("slow")
class ActionsOfLogsTest {

    private static final int HEAD = 64 << 10;
    private static final int MAX_COUNT = 2_000_000;
    /** Of each eight connections; actions are distinguished within a connection. */
    private static final int LEFT_OUT = PropertyTestBudget.of(4, 0);

    private static Path corpora() {
        String named = System.getenv("TAILRACE_CORPORA");
        return Path.of(named == null ? "../../../shared/corpora" : named);
    }

    /** The statements of one log, for connections in all three logs. */
    private static final class Log implements DetectionEventHandler {

        private final String service;
        private final List<DetectionEvent> statements = new ArrayList<>();

        Log(String service, Path file) throws IOException {
            this.service = service;
            InputStream stored = Files.newInputStream(file);
            try (InputStream in = file.toString().endsWith(".gz") ? new GZIPInputStream(stored) : stored) {
                byte[] head = in.readNBytes(HEAD);
                LogFormat format = new FormatRegistry().detect("", "auto", head).orElseThrow();
                LogOrigin origin = new LogOrigin("", "db1", service, format.name(), "UTC", service);
                new LogReader(head, in, format, origin, this).read(1);
            }
        }

        @Override
        public void event(DetectionEvent event) {
            boolean query = event.values("event_class").stream()
                    .anyMatch(value -> value.text().equals("query"));
            boolean ofAdministrator =
                    event.values("verb").stream().anyMatch(value -> value.text().equals("ADMIN"));
            if (query && !ofAdministrator && event.micros() > 0 && connection(event) % 8 >= LEFT_OUT) {
                statements.add(event);
            }
        }

        private static long connection(DetectionEvent event) {
            return event.values("connection_id").stream()
                    .mapToLong(value -> Long.parseLong(value.text()))
                    .findFirst()
                    .orElse(0);
        }

        @Override
        public void deadLetter(Refusal refusal) {}
    }

    private static long joined(List<Log> logs) {
        ActionResolver actions = new ActionResolver(MAX_COUNT);
        Set<String> first = new HashSet<>();
        logs.get(0).statements.forEach(event -> first.add(actions.of(event).id()));
        long joined = 0;
        for (DetectionEvent event : logs.get(1).statements) {
            joined += first.contains(actions.of(event).id()) ? 1 : 0;
        }
        return joined;
    }

    private static Map<String, Integer> counts(Log log) {
        Map<String, Integer> counts = new HashMap<>();
        log.statements.forEach(
                event -> counts.merge(event.values("connection_id") + " " + event.values("query_id"), 1, Integer::sum));
        return counts;
    }

    /** Returns how many statements are in both logs, by their counts. */
    private static long common(Log one, Log other) {
        Map<String, Integer> counts = counts(one);
        return counts(other).entrySet().stream()
                .mapToLong(entry -> Math.min(entry.getValue(), counts.getOrDefault(entry.getKey(), 0)))
                .sum();
    }

    @Test
    void actionsInThreeLogsCountOnce() throws IOException {
        Path large = corpora().resolve("ours/large");
        assumeTrue(Files.isDirectory(large), "no corpora at " + large);
        Log slow = new Log("slowlog", large.resolve("mariadb-10.11.19-sysbench.slow.log.gz"));
        Log audit = new Log("audit", large.resolve("mariadb-10.11.19-sysbench.server_audit.log.gz"));
        Log general = new Log("general", large.resolve("mariadb-10.11.19-sysbench.general.log.gz"));
        for (List<Log> pair :
                List.of(List.of(slow, audit), List.of(audit, slow), List.of(general, audit), List.of(slow, general))) {
            long common = common(pair.get(0), pair.get(1));
            long joined = joined(pair);
            assertThat(common).isGreaterThan(50_000);
            assertThat(joined)
                    .as(pair.get(0).service + " and " + pair.get(1).service)
                    .isGreaterThan(common * 99 / 100);
        }
    }
}
