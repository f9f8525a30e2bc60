package io.tailrace.detection.sigma.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.testing.PropertyTestBudget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies that any file is compiled or rejected, without an exception. */
class MutatedRulesTest {

    private static final Path PACK = Path.of("../../rules");
    private static final String PIECES = ":-|*&![]{}'\"\\\n \t#?%@~<>0x(,)";

    @Test
    void mutatedRulesAreCompiledOrRefused() throws IOException {
        List<String> rules = pack();
        Random random = new Random(4);
        for (int i = 0; i < PropertyTestBudget.of(800, 4000); i++) {
            String mutated = mutated(rules.get(random.nextInt(rules.size())), random);
            RuleSet read = new RuleSetReader().text("x.yml", mutated).ruleSet();
            assertThat(read.rules().size()
                            + read.correlations().size()
                            + read.errors().size())
                    .as(mutated)
                    .isPositive();
        }
    }

    private static List<String> pack() throws IOException {
        List<String> rules = new ArrayList<>();
        try (Stream<Path> files = Files.walk(PACK)) {
            for (Path file : files.filter(file -> file.toString().endsWith(".yml"))
                    .sorted()
                    .toList()) {
                rules.add(Files.readString(file));
            }
        }
        return rules;
    }

    private static String mutated(String rule, Random random) {
        StringBuilder mutated = new StringBuilder(rule);
        for (int i = random.nextInt(4); i >= 0; i--) {
            int at = random.nextInt(mutated.length());
            int to = Math.min(mutated.length(), at + random.nextInt(12));
            switch (random.nextInt(3)) {
                case 0 -> mutated.insert(at, PIECES.charAt(random.nextInt(PIECES.length())));
                case 1 -> mutated.delete(at, to);
                default -> mutated.insert(at, mutated.substring(at, to));
            }
        }
        return mutated.append("\n---\ntitle: last\n").toString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a: &a [*a]",
                "title: t\nlogsource: {product: x}\ndetection: &d\n  s: *d\n  condition: s",
                "title: t\nlogsource: {product: x}\ndetection:\n  s: &s [*s]\n  condition: s",
                "? [a, b]\n: c",
                "--- !!binary |\n  aGVsbG8=",
                "%YAML 3.0\n---\na: b",
                "\u0000",
                "title: t\nlogsource: {product: x}\ndetection:\n  s: {a|base64offset: ''}\n  condition: s"
            })
    void oddDocumentsAreRefused(String yaml) {
        RuleSet read = new RuleSetReader().text("x.yml", yaml).ruleSet();

        assertThat(read.rules()).isEmpty();
        assertThat(read.errors()).isNotEmpty();
    }

    @Test
    void deepExpressionsAreRefused() {
        String regex = "(".repeat(50_000) + ")".repeat(50_000);
        String yaml = "title: t\nlogsource: {product: x}\ndetection:\n  s:\n    a|re: '" + regex + "'\n  condition: s";

        assertThat(new RuleSetReader().text("x.yml", yaml).ruleSet().errors())
                .singleElement()
                .satisfies(error -> assertThat(error.reason()).contains("nested too deeply"));
    }

    @Test
    void deepDocumentsAreRefused() {
        for (String deep : List.of("[", "{a: ", "- ", "(")) {
            String yaml = "title: t\nlogsource: {product: x}\ndetection:\n  s: {a: 1}\n  condition: "
                    + (deep.equals("(") ? "" : "s\n  t: ") + deep.repeat(20_000);
            assertThatCode(() -> assertThat(new RuleSetReader()
                                    .text("x.yml", yaml)
                                    .ruleSet()
                                    .errors())
                            .isNotEmpty())
                    .doesNotThrowAnyException();
        }
    }
}
