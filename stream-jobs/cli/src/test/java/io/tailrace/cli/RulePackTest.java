package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.LogReader;
import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.coverage.MissingRequirement;
import io.tailrace.detection.coverage.ObservedFields;
import io.tailrace.detection.coverage.RuleCoverageEvaluator;
import io.tailrace.detection.dataclass.DataClassReader;
import io.tailrace.detection.dataclass.DataClasses;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.index.RulePrefilter;
import io.tailrace.detection.sigma.reader.BundleFiles;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.rule.SigmaRule;
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
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the rules of the pack on log lines, through the parsers of the pipeline. {@code NAME.fires*.log} next to {@code
 * NAME.yml} makes it fire: a rule over single events for every event, except for logins of a general log whose result
 * is in the next line. {@code NAME.silent*.log} does not.
 */
class RulePackTest {

    private static final Path PACK = Path.of("../../rules");
    private static final long END_OF_TIME = Long.MAX_VALUE / 4;
    private static final RuleSet RULES = rules();
    private static final RulePrefilter INDEX = new RulePrefilter(RULES.rules());
    private static final DataClasses CLASSES = classes();

    private static RuleSet rules() {
        try {
            RuleContext context = new RuleContext(Map.of(), new DatabaseFieldMapping());
            return new RuleSetReader(context).path(PACK).ruleSet();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static DataClasses classes() {
        try {
            Path file = PACK.resolve(BundleFiles.DATA_CLASSES);
            return DataClassReader.read(file.toString(), Files.readString(file), error -> {
                throw new AssertionError(error.toString());
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Stream<RuleHeader> alerting() {
        return Stream.concat(
                RULES.rules().stream().filter(SigmaRule::alerts).map(SigmaRule::header),
                RULES.correlations().stream().filter(rule -> rule.alerts()).map(rule -> rule.header()));
    }

    @Test
    void everyRuleCompiles() {
        assertThat(RULES.errors()).as("errors of `tailrace rules check rules`").isEmpty();
        assertThat(RULES.warnings())
                .as("warnings of `tailrace rules check rules`")
                .isEmpty();
        assertThat(alerting()).hasSizeGreaterThanOrEqualTo(60);
    }

    @ParameterizedTest
    @MethodSource("alerting")
    void hasCompleteMetadata(RuleHeader rule) {
        String file = rule.file();
        assertThat(rule.id()).as("id of %s", file).isNotEmpty();
        assertThat(Path.of(file).getFileName())
                .as("name of the file %s, which is the name of the rule", file)
                .hasToString(rule.name() + ".yml");
        assertThat(rule.description()).as("description of %s", file).endsWith(".");
        assertThat(rule.tags()).as("tags of %s", file).isNotEmpty().allMatch(tag -> tag.startsWith("attack."));
        assertThat(rule.falsePositives()).as("falsepositives of %s", file).isNotEmpty();
        assertThat(rule.nextSteps()).as("next_steps of %s", file).isNotEmpty();
        assertThat(rule.level()).as("level of %s", file).isNotEqualTo(Level.INFORMATIONAL);
    }

    @ParameterizedTest
    @MethodSource("alerting")
    void firesOnItsLogsAndNotOnBenignOnes(RuleHeader rule) throws IOException {
        List<Path> fires = fixtures(rule, ".fires");
        List<Path> silent = fixtures(rule, ".silent");
        assertThat(fires)
                .as("fixtures %s.fires*.log next to the rule", rule.name())
                .isNotEmpty();
        assertThat(silent)
                .as("fixtures %s.silent*.log next to the rule", rule.name())
                .isNotEmpty();
        Optional<SigmaRule> counted = counted(rule);
        for (Path log : fires) {
            Run run = new Run(log, counted);
            List<RaisedAlert> alerts = run.alerts(rule);
            assertThat(run.obstacle(rule))
                    .as("why %s cannot fire on %s", rule.name(), log)
                    .isEmpty();
            assertThat(alerts).as("alerts of %s on %s", rule.name(), log).isNotEmpty();
            if (isOfSingleEvents(rule)) {
                assertThat(alerts)
                        .as("alerts of %s on %s, one for each event", rule.name(), log)
                        .hasSizeBetween(run.decided, run.events);
            }
            if (counted.isPresent()) {
                assertThat(run.matches)
                        .as("events of %s that match the rule that %s counts", log, rule.name())
                        .isBetween(run.decided, run.events);
            }
        }
        for (Path log : silent) {
            assertThat(new Run(log, counted).alerts(rule))
                    .as("alerts of %s on %s", rule.name(), log)
                    .isEmpty();
        }
    }

    /** What a rule with {@code yields_to} reports, no other rule of low level or above reports with it. */
    private static final Set<String> GENERIC = Set.of(
            "setting_changed",
            "table_copied_whole",
            "regular_table_dropped",
            "table_truncated",
            "partition_emptied",
            "table_renamed",
            "grant_process",
            "role_granted");

    @Test
    void oneStatementRaisesOneAlertIfAGenericRuleSaysTheSame() throws IOException {
        List<Set<String>> doubles = new ArrayList<>();
        for (RuleHeader rule : alerting().toList()) {
            for (Path log : fixtures(rule, ".fires")) {
                new Run(log, Optional.empty())
                        .rulesByEvent().values().stream()
                                .filter(names ->
                                        names.size() > 1 && names.stream().anyMatch(GENERIC::contains))
                                .forEach(doubles::add);
            }
        }
        assertThat(doubles)
                .as("rules that report the same event: add the specific one to yields_to of the generic one")
                .allMatch(names -> OTHER_ASPECT.containsAll(specific(names)));
    }

    private static List<String> specific(Set<String> names) {
        return names.stream().filter(name -> !GENERIC.contains(name)).toList();
    }

    /** Rules about the account or the log of a statement, not about what it does. */
    private static final Set<String> OTHER_ASPECT = Set.of("replication_user_interactive", "statement_truncated");

    private static boolean isOfSingleEvents(RuleHeader rule) {
        return RULES.rules().stream().anyMatch(each -> each.header().equals(rule));
    }

    /** Returns the rule whose first occurrences the correlation reports; empty for other rules. */
    private static Optional<SigmaRule> counted(RuleHeader rule) {
        return RULES.correlations().stream()
                .filter(each -> each.header().equals(rule))
                .filter(each -> each.bound() == 1 && each.rules().size() == 1)
                .flatMap(each -> RULES.rules().stream()
                        .filter(counted ->
                                counted.header().key().equals(each.rules().get(0))))
                .findAny();
    }

    private static List<Path> fixtures(RuleHeader rule, String kind) throws IOException {
        try (Stream<Path> files = Files.list(Path.of(rule.file()).getParent())) {
            return files.filter(file -> file.getFileName().toString().startsWith(rule.name() + kind))
                    .sorted()
                    .toList();
        }
    }

    /** Runs the complete pack on one log. */
    private static final class Run implements DetectionEventHandler {

        private final DetectionEngine detector = new DetectionEngine(RULES, INDEX, 0);
        private final DataClassifier classifier = new DataClassifier(CLASSES);
        private final List<RaisedAlert> alerts = new ArrayList<>();
        private final ObservedFields contents = new ObservedFields();
        private final Optional<SigmaRule> counted;

        private LogSource source;
        /** Number of events that match the counted rule. */
        private int matches;

        private int events;
        /** Number of events without logins whose result is in a later event. */
        private int decided;

        Run(Path log, Optional<SigmaRule> counted) throws IOException {
            this.counted = counted;
            byte[] bytes = Files.readAllBytes(log);
            LogFormat format = new FormatRegistry().detect("", "auto", bytes).orElseThrow();
            LogOrigin origin =
                    new LogOrigin("", "db1", FormatRegistry.sourceOf(format), format.name(), "UTC", log.toString());
            new LogReader(bytes, new ByteArrayInputStream(new byte[0]), format, origin, this).read(1);
            detector.advance(END_OF_TIME, alerts::add);
        }

        List<RaisedAlert> alerts(RuleHeader rule) {
            return alerts.stream()
                    .filter(alert -> alert.rule().key().equals(rule.key()))
                    .toList();
        }

        /** Returns the names of the rules that report one event on its own, by the id of the event. */
        Map<String, Set<String>> rulesByEvent() {
            Map<String, Set<String>> names = new TreeMap<>();
            alerts.stream().filter(alert -> alert.eventIds().size() == 1).forEach(alert -> names.computeIfAbsent(
                            alert.eventIds().get(0), id -> new TreeSet<>())
                    .add(alert.rule().name()));
            return names;
        }

        /** Returns why the rule cannot fire on such a log, according to coverage. */
        Optional<MissingRequirement> obstacle(RuleHeader rule) {
            return RuleCoverageEvaluator.answers(RULES, !CLASSES.isEmpty(), Map.of(source, contents)).stream()
                    .filter(answer -> answer.rule().equals(rule))
                    .findAny()
                    .orElseThrow()
                    .obstacle();
        }

        @Override
        public void event(DetectionEvent event) {
            boolean undecided = event.values(DatabaseField.LOGIN.fieldName()).stream()
                    .anyMatch(login -> login.text().equals("unknown"));
            events++;
            decided += undecided ? 0 : 1;
            source = event.source();
            contents.add(event);
            classifier.enrich(event);
            matches += counted.filter(rule -> rule.condition().matches(event)).isPresent() ? 1 : 0;
            detector.detect(event, alerts::add);
        }

        @Override
        public void deadLetter(Refusal refusal) {
            throw new AssertionError(refusal.code() + ": " + refusal.message());
        }
    }
}
