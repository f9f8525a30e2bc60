package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.LogReader;
import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.detector.InMemoryDetectorEngine;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.Level;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs the complete pack with its detectors on three weeks of ordinary tools and habits, through the parsers of the
 * pipeline: no false alert of level medium or higher, and at most one per 100,000 events.
 */
@Tag("slow")
class OrdinaryHabitsTest {

    private static final Path TOOLS = Path.of("src/test/resources/ordinary");
    private static final Path PACK = Path.of("../../rules");
    private static final int DAYS = 18;
    /** More are complete only in the long test: later days repeat the same sessions. */
    private static final int COMPLETE_DAYS = 3;

    private static final long EVENTS_AN_ALERT = 100_000;
    private static final long END_OF_TIME = Long.MAX_VALUE / 4;

    /** Expected alerts, which are true: new habits, and a server that was made read-only. */
    private static final Map<String, Long> TRUE_ALERTS = Map.of(
            "HIGH into_outfile", 1L,
            "MEDIUM load_data_local", 1L,
            "MEDIUM dump_like_read", 1L,
            "HIGH sensitive_dumped", 1L,
            "MEDIUM very_many_rows_sent", 1L,
            "MEDIUM many_classes_read", 1L,
            "MEDIUM service_limited", 1L);

    @Test
    void dailyActivityIsNotNew() throws IOException {
        Run run = run(COMPLETE_DAYS);
        assertThat(run.ofLevel(Level.MEDIUM)).as(run::explanation).isEqualTo(TRUE_ALERTS);
    }

    @Test
    @Tag("long")
    void aHundredThousandEventsRaiseAtMostOneAlert() throws IOException {
        Run run = run(DAYS);
        Map<String, Long> reported = run.ofLevel(Level.MEDIUM);
        assertThat(reported).as(run::explanation).isEqualTo(TRUE_ALERTS);
        assertThat(reported.values().stream().mapToLong(Long::longValue).sum())
                .isLessThanOrEqualTo(run.events / EVENTS_AN_ALERT);
    }

    private static Run run(int completeDays) throws IOException {
        List<OrdinaryTool> tools = OrdinaryTool.all(TOOLS);
        assertThat(tools).hasSizeGreaterThanOrEqualTo(66);

        Run run = new Run();
        for (Map.Entry<String, byte[]> log :
                OrdinaryLogs.of(tools, DAYS, completeDays).entrySet()) {
            run.read(log.getKey(), log.getValue());
        }
        run.end();
        return run;
    }

    /** Runs the complete pack and its detectors on logs of several servers. */
    private static final class Run implements DetectionEventHandler {

        private final DetectionEngine detector;
        private final InMemoryDetectorEngine detectors;
        private final DataClassifier classifier;
        private final ActionResolver actions = new ActionResolver(ActionResolver.MAX_ACTIONS);
        private final Map<String, Long> counts = new TreeMap<>();
        private final Map<String, RaisedAlert> firsts = new HashMap<>();
        private long events;

        Run() throws IOException {
            RuleBundle bundle = RuleBundle.of(RuleBundle.files(PACK), new DatabaseFieldMapping());
            assertThat(bundle.errors()).isEmpty();
            detector = new DetectionEngine(bundle.rules(), 0);
            detectors = new InMemoryDetectorEngine(bundle.detectors(), 0, () -> Long.MAX_VALUE / 2);
            classifier = new DataClassifier(bundle.dataClasses());
        }

        void read(String name, byte[] bytes) throws IOException {
            LogFormat format = new FormatRegistry().detect("", "auto", bytes).orElseThrow();
            LogOrigin origin = new LogOrigin(
                    "", "db-" + name, FormatRegistry.sourceOf(format), format.name(), "UTC", name + ".log");
            new LogReader(bytes, new ByteArrayInputStream(new byte[0]), format, origin, this).read(1);
        }

        void end() {
            detector.advance(END_OF_TIME, this::count);
        }

        private void count(RaisedAlert alert) {
            String rule = alert.rule().level() + " " + alert.rule().name();
            counts.merge(rule, 1L, Long::sum);
            firsts.putIfAbsent(rule, alert);
        }

        /** The first alert of each rule that is not expected, and what to do about it. */
        String explanation() {
            return ofLevel(Level.MEDIUM).keySet().stream()
                    .filter(rule -> !TRUE_ALERTS.containsKey(rule))
                    .map(rule -> rule + " fired on ordinary activity, first on "
                            + firsts.get(rule).entity() + " with "
                            + firsts.get(rule).statements())
                    .collect(Collectors.joining(
                            "\n", "", "\nNarrow the rule or lower its level. TRUE_ALERTS lists true, rare alerts."));
        }

        Map<String, Long> ofLevel(Level least) {
            return counts.entrySet().stream()
                    .filter(each -> Arrays.stream(Level.values())
                            .filter(level -> level.compareTo(least) >= 0)
                            .anyMatch(level -> each.getKey().startsWith(level.name())))
                    .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        }

        @Override
        public void event(DetectionEvent event) {
            events++;
            classifier.enrich(event);
            event.actionFrom(actions::of);
            detector.detect(event, this::count);
            detectors.detect(event, this::count);
        }

        @Override
        public void deadLetter(Refusal refusal) {
            throw new AssertionError(refusal.code() + ": " + refusal.message());
        }
    }
}
