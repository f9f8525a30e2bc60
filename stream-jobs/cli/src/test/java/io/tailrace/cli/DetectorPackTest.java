package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.LogReader;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.detector.InMemoryDetectorEngine;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.reader.BundleFiles;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the detectors of the pack, with its settings, on log lines of some weeks and through the parsers of the
 * pipeline: {@code detectors/NAME.fires.log} makes a detector fire; {@code NAME.silent.log} is similar and does not.
 */
class DetectorPackTest {

    private static final Path PACK = Path.of("../../rules");
    /**
     * Tested elsewhere, because they need very many lines, data classes, the census, the ledger, plans or signatures. By
     * {@code DetectorType.key()}, which differs for three of them from the key in rules/detectors.yaml.
     */
    private static final Set<String> WITHOUT_LOGS = Set.of(
            "volume_statements",
            "volume_query_statements",
            "first_seen_data_class",
            "coverage",
            "coverage_gap",
            "plan_slower",
            "signed_range");

    static Stream<String> detectors() {
        return read().stream().map(detector -> detector.header().name()).filter(name -> !WITHOUT_LOGS.contains(name));
    }

    private static List<StatefulDetector> read() {
        try {
            RuleContext context = new RuleContext(Map.of(), new DatabaseFieldMapping());
            Path file = PACK.resolve(BundleFiles.DETECTORS);
            return DetectorConfig.of(file.toString(), Files.readString(file), context)
                    .detectors();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @MethodSource("detectors")
    void firesOnItsLogAndNotOnABenignOne(String name) throws IOException {
        for (Path log : logs(name, "fires")) {
            assertThat(alerts(name, log))
                    .as("alerts of %s on %s", name, log)
                    .hasSize(1)
                    .allSatisfy(alert -> {
                        assertThat(alert.entity()).isNotEmpty();
                        assertThat(alert.eventIds()).isNotEmpty();
                        assertThat(alert.facts()).containsKey("explanation");
                    });
        }
        for (Path log : logs(name, "silent")) {
            assertThat(alerts(name, log)).as("alerts of %s on %s", name, log).isEmpty();
        }
    }

    private static List<Path> logs(String name, String kind) throws IOException {
        try (Stream<Path> files = Files.list(PACK.resolve("detectors"))) {
            List<Path> logs = files.filter(file -> file.getFileName().toString().startsWith(name + "." + kind + "."))
                    .sorted()
                    .toList();
            assertThat(logs)
                    .as("rules/detectors/%s.%s*.log: add one, or %s to WITHOUT_LOGS with the reason", name, kind, name)
                    .isNotEmpty();
            return logs;
        }
    }

    private static List<RaisedAlert> alerts(String name, Path log) throws IOException {
        Run run = new Run(log);
        assertThat(run.events).as("events of " + log).isPositive();
        return run.alerts.stream()
                .filter(alert -> alert.rule().name().equals(name))
                .toList();
    }

    /** Runs all detectors of the pack on one log. */
    private static final class Run implements DetectionEventHandler {

        private final InMemoryDetectorEngine engine = new InMemoryDetectorEngine(read(), 0, () -> Long.MAX_VALUE / 2);
        private final List<RaisedAlert> alerts = new ArrayList<>();
        private int events;

        Run(Path log) throws IOException {
            byte[] bytes = Files.readAllBytes(log);
            LogFormat format = new FormatRegistry().detect("", "auto", bytes).orElseThrow();
            LogOrigin origin =
                    new LogOrigin("", "db1", FormatRegistry.sourceOf(format), format.name(), "UTC", log.toString());
            new LogReader(bytes, new ByteArrayInputStream(new byte[0]), format, origin, this).read(1);
        }

        @Override
        public void event(DetectionEvent event) {
            events++;
            engine.detect(event, alerts::add);
        }

        @Override
        public void deadLetter(Refusal refusal) {
            throw new AssertionError(refusal.code() + ": " + refusal.message());
        }
    }
}
