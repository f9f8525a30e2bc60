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
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs the complete pack with its detectors on three weeks of ordinary tools and habits and on an ordinary day of
 * {@code e2e/attack_day}, through the parsers of the pipeline. One count of alerts for both: no false alert of level medium
 * or higher, and at most one per 100,000 events.
 */
@Tag("slow")
class OrdinaryHabitsTest {

    private static final Path TOOLS = Path.of("src/test/resources/ordinary");
    /** A recording of a real MariaDB; {@code e2e/test_attack_day.py} requires that it is the day that it plays. */
    private static final Path ORDINARY_DAY = Path.of("src/test/resources/ordinary_day");

    private static final List<String> LOGS_OF_DAY = List.of("server_audit.log", "slow.log", "error.log");
    private static final int MIN_EVENTS_OF_DAY = 4_000;
    private static final Path PACK = Path.of("../../rules");
    private static final int DAYS = 18;
    /** More are complete only in the long test: later days repeat the same sessions, and raise the same alerts. */
    private static final int COMPLETE_DAYS = 3;

    private static final long EVENTS_AN_ALERT = 100_000;
    private static final long END_OF_TIME = Long.MAX_VALUE / 4;

    /**
     * Expected alerts, which are true: new habits, the first accounts that a control panel creates, a tool that reads password
     * hashes, a monitor's first access to personal data.
     */
    private static final Map<String, Long> TRUE_ALERTS = Map.of(
            "HIGH into_outfile", 1L,
            "HIGH sensitive_dumped", 1L,
            "MEDIUM new_limited_account", 1L,
            "MEDIUM account_tables_read", 1L,
            "MEDIUM first_seen_table", 1L);

    /** Most days are thinned; the rate is that of the complete days, of which the long test reads all entries. */
    @Test
    void ordinaryActivityRaisesOnlyTrueAlerts() throws IOException {
        assertFewAndTrue(COMPLETE_DAYS);
    }

    @Test
    @Tag("long")
    void aHundredThousandEventsRaiseAtMostOneAlert() throws IOException {
        assertFewAndTrue(DAYS);
    }

    private static void assertFewAndTrue(int completeDays) throws IOException {
        List<OrdinaryTool> tools = OrdinaryTool.all(TOOLS);
        assertThat(tools).hasSizeGreaterThanOrEqualTo(80);

        Run run = new Run();
        for (Map.Entry<String, byte[]> log :
                OrdinaryLogs.of(tools, DAYS, completeDays).entrySet()) {
            run.read("db-" + log.getKey(), log.getKey() + ".log", log.getValue());
        }
        assertThat(run.events).isEqualTo(OrdinaryLogs.entries(tools, DAYS, completeDays));
        long ofDay = readDay(run);
        run.end();

        assertThat(run.firsts.get("LOW unknown_access_by_administrator"))
                .as("the first statement of an administrator whose tables are unknown")
                .isNull();
        Map<String, Long> reported = run.ofLevel(Level.MEDIUM);
        assertThat(reported).as(run::explanation).isEqualTo(TRUE_ALERTS);
        assertThat(reported.values().stream().mapToLong(Long::longValue).sum())
                .isLessThanOrEqualTo((OrdinaryLogs.entries(tools, DAYS, DAYS) + ofDay) / EVENTS_AN_ALERT);
    }

    /** Reads all logs of the ordinary day; returns the number of its events. */
    private static long readDay(Run run) throws IOException {
        long before = run.events;
        for (String log : LOGS_OF_DAY) {
            try (InputStream in = new GZIPInputStream(Files.newInputStream(ORDINARY_DAY.resolve(log + ".gz")))) {
                run.read("company", log, in.readAllBytes());
            }
        }
        assertThat(run.events - before).isGreaterThan(MIN_EVENTS_OF_DAY);
        return run.events - before;
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

        void read(String instance, String log, byte[] bytes) throws IOException {
            LogFormat format = new FormatRegistry().detect("", "auto", bytes).orElseThrow();
            LogOrigin origin = new LogOrigin("", instance, FormatRegistry.sourceOf(format), format.name(), "UTC", log);
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
