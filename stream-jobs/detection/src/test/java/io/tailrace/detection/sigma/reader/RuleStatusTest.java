package io.tailrace.detection.sigma.reader;

import static io.tailrace.detection.sigma.reader.RuleText.correlation;
import static io.tailrace.detection.sigma.reader.RuleText.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuleStatusTest {

    private static final String COUNT = "type: event_count\nrules: [%s]\ntimespan: 5m\ncondition: {gte: 3}";

    @TempDir
    private Path directory;

    @Test
    void deprecatedRulesAreNotEvaluatedUnlessACorrelationUsesThem() {
        String rules = with("deprecated", named("old", "a: 1"))
                + with("unsupported", named("broken", "a: 1"))
                + with("deprecated", named("counted", "a: 1"))
                + with("deprecated", named("of_old", "a: 1"))
                + named("own", "a: 1")
                + with("stable", correlation("many", COUNT.formatted("counted, own")))
                + with("deprecated", correlation("old_many", COUNT.formatted("of_old, own")));
        RuleSet set = new RuleSetReader().text("x.yml", rules).ruleSet();

        assertThat(set.errors()).isEmpty();
        assertThat(keys(set)).containsExactly("counted", "own", "many");
        assertThat(set.alerting()).extracting(RuleHeader::key).containsExactly("many");
        assertThat(set.warnings()).extracting(RuleError::reason).hasSize(4).allSatisfy(reason -> assertThat(reason)
                .contains("not evaluated, because no correlation uses it"));
    }

    @Test
    void aRuleThatOnlyAWithdrawnCorrelationUsesAlertsItself() {
        String rules = named("own", "a: 1") + with("deprecated", correlation("old_many", COUNT.formatted("own")));
        assertThat(new RuleSetReader().text("x.yml", rules).ruleSet().alerting())
                .extracting(RuleHeader::key)
                .containsExactly("own");
    }

    @Test
    void rulesOfAnyOtherStatusAreEvaluated() {
        String rules = with("experimental", named("a", "a: 1"))
                + with("test", named("b", "a: 1"))
                + with("stable", named("c", "a: 1"));
        assertThat(keys(new RuleSetReader().text("x.yml", rules).ruleSet())).containsExactly("a", "b", "c");
    }

    @Test
    void aFileThatIsNamedIsEvaluated() throws IOException {
        Path file = Files.writeString(directory.resolve("r.yml"), with("deprecated", named("old", "a: 1")));
        assertThat(keys(new RuleSetReader().path(file).ruleSet())).containsExactly("old");
        assertThat(keys(new RuleSetReader().path(directory).ruleSet())).isEmpty();
    }

    private static String with(String status, String rule) {
        return "status: " + status + "\n" + rule;
    }

    private static Stream<String> keys(RuleSet rules) {
        return Stream.concat(
                rules.rules().stream().map(rule -> rule.header().key()),
                rules.correlations().stream().map(rule -> rule.header().key()));
    }
}
