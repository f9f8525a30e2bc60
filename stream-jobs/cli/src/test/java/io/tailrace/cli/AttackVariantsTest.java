package io.tailrace.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.AttackList.Attack;
import io.tailrace.cli.DatabaseOperation.Account;
import io.tailrace.cli.DatabaseOperation.Kind;
import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.LogReader;
import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.index.RulePrefilter;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import io.tailrace.testing.PropertyTestBudget;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Measures recall of the rule pack, without history, on attacks of one statement and on variants of them. An attack counts
 * as detected if a rule fires that states what happens. {@code known.txt} was used to write rules, {@code held-out.txt} was
 * not. The floors are what was measured; raise them when rules improve. {@code target/attacks-*.txt} lists what was missed.
 */
class AttackVariantsTest {

    private static final Path PACK = Path.of("../../rules");
    private static final Account PERSON = new Account("maria", "", "10.30.4.7");
    private static final Instant TIME = Instant.parse("2026-11-20T10:00:00Z");
    private static final String MISSED =
            "share of detected statements; stream-jobs/cli/target/attacks-%s-%s lists the others, with their fingerprint"
                    + " and the rules that fired";
    private static final long SEED = 20261121;
    private static final int VARIANTS = PropertyTestBudget.of(4, 250);

    private static RuleBundle bundle;
    private static RulePrefilter index;

    @BeforeAll
    static void readPack() throws IOException {
        bundle = RuleBundle.of(RuleBundle.files(PACK), new DatabaseFieldMapping());
        assertThat(bundle.errors()).isEmpty();
        index = new RulePrefilter(bundle.rules().rules());
    }

    @ParameterizedTest
    @CsvSource({
        "known.txt, 0.99",
        "held-out.txt, 0.96",
        "weak-signals.txt, 0.95",
        "hosting.txt, 0.94",
        "within.txt, 1.0",
        "conditions.txt, 1.0",
        "calls.txt, 1.0"
    })
    void detectsAttacksForTheRightReason(String file, double floor) throws IOException {
        assertThat(recall("attacks", file, 0)).as(MISSED, "attacks", file).isGreaterThanOrEqualTo(floor);
    }

    @ParameterizedTest
    @CsvSource({"known.txt, 0.98", "held-out.txt, 0.95", "conditions.txt, 0.97", "calls.txt, 1.0"})
    void detectsVariantsOfAttacks(String file, double floor) throws IOException {
        assertThat(recall("variants", file, VARIANTS))
                .as(MISSED, "variants", file)
                .isGreaterThanOrEqualTo(floor);
    }

    @Test
    void listsNameRulesOfThePackOnly() {
        Set<String> names = new TreeSet<>();
        bundle.rules().rules().forEach(rule -> names.add(rule.header().name()));
        bundle.rules().correlations().forEach(rule -> names.add(rule.header().name()));
        for (String file : List.of("known.txt", "held-out.txt", "within.txt", "conditions.txt", "calls.txt")) {
            List<String> named = AttackList.of(file).stream()
                    .flatMap(attack -> attack.rules().stream())
                    .toList();
            assertThat(named)
                    .as("names in resources/attacks/%s: each is that of a rule", file)
                    .isSubsetOf(names);
        }
    }

    /**
     * Returns the share of statements for which a right rule fires.
     *
     * @param variants number of variants of each attack; 0 for the attack itself
     */
    private static double recall(String what, String file, int variants) throws IOException {
        List<Attack> attacks = new ArrayList<>();
        SqlMutator mutator = new SqlMutator(SEED);
        for (Attack attack : AttackList.of(file)) {
            if (variants == 0) {
                attacks.add(attack);
            }
            for (int i = 0; i < variants; i++) {
                String variant = mutator.variant(attack.sql());
                attacks.add(new Attack(attack.kind(), rules(attack, variant), variant));
            }
        }
        Run run = new Run(attacks);
        double recall = run.detected / (double) attacks.size();
        String head = String.format("%s %s: %d of %d, recall %.4f%n", what, file, run.detected, attacks.size(), recall);
        Files.writeString(
                Path.of("target", "attacks-" + what + '-' + file), head + String.join("\n", run.missed) + '\n');
        return recall;
    }

    /** A variant whose reading depends on the server has a rule of its own, because its fingerprint ends before what it does. */
    private static Set<String> rules(Attack attack, String variant) {
        boolean hiding = SqlMutator.HIDING.stream().anyMatch(variant::contains);
        return hiding ? Set.of("version_comment_ambiguous") : attack.rules();
    }

    /** Runs the pack on a log of attacks, each with an engine of its own. */
    private static final class Run implements DetectionEventHandler {

        private final List<Attack> attacks;
        private final DataClassifier classifier = new DataClassifier(bundle.dataClasses());
        private final List<String> missed = new ArrayList<>();
        private int detected;
        private int seen;

        Run(List<Attack> attacks) throws IOException {
            this.attacks = attacks;
            List<DatabaseOperation> operations = new ArrayList<>();
            for (Attack attack : attacks) {
                operations.add(new DatabaseOperation(
                        Kind.STATEMENT,
                        TIME.plusSeconds(operations.size()),
                        operations.size() + 1,
                        PERSON,
                        "shop",
                        attack.sql(),
                        0,
                        List.of(),
                        List.of()));
            }
            String format = "percona-audit-json";
            byte[] log = RenderedLog.of(RenderedLog.writers().get(format), operations)
                    .getBytes(StandardCharsets.UTF_8);
            LogFormat reader = new FormatRegistry().detect("", format, log).orElseThrow();
            LogOrigin origin = new LogOrigin("", "db1", "audit", format, "UTC", "audit.log");
            new LogReader(log, new ByteArrayInputStream(new byte[0]), reader, origin, this).read(1);
            assertThat(seen).isEqualTo(attacks.size());
        }

        @Override
        public void event(DetectionEvent event) {
            Attack attack = attacks.get(seen++);
            classifier.enrich(event);
            Set<String> rules = new TreeSet<>();
            DetectionEngine engine = new DetectionEngine(bundle.rules(), index, 0);
            engine.detect(event, alert -> rules.add(alert.rule().name()));
            if (rules.stream().anyMatch(attack.rules()::contains)) {
                detected++;
            } else {
                missed.add(
                        attack.rules() + " not " + rules + ": " + attack.sql().replace("\n", "\\n") + "\n      "
                                + event.values("statement") + " " + event.values("flag"));
            }
        }

        @Override
        public void deadLetter(Refusal refusal) {
            throw new AssertionError(refusal.code() + ": " + refusal.message());
        }
    }
}
