package io.tailrace.detection.sigma.reader;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.sigma.rule.RuleSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Compiles rules of third parties, from a directory next to the repository or from TAILRACE_CORPORA. */
class ThirdPartyRulesTest {

    @Test
    void everyRuleCompiles() throws IOException {
        Path directory = corpora().resolve("third-party/sigma");
        Assumptions.assumeTrue(Files.isDirectory(directory), "no corpora at " + directory + ": skipped");

        RuleSet rules = new RuleSetReader().path(directory).ruleSet();

        assertThat(rules.errors()).isEmpty();
        assertThat(rules.rules()).hasSizeGreaterThanOrEqualTo(files(directory));
    }

    private static int files(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return (int) files.filter(file -> file.toString().endsWith(".yml")).count();
        }
    }

    private static Path corpora() {
        String configured = System.getenv("TAILRACE_CORPORA");
        return configured == null ? Path.of("../../../shared/corpora") : Path.of(configured);
    }
}
