package io.tailrace.flink.detection.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.flink.detection.Pushes;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CompiledBundleTest {

    private static final Path RULES = Path.of("../../rules");

    /** Detectors of two operators run in two threads, and are not thread-safe. */
    @Test
    void operatorsShareRulesAndDataClassesButNoDetectors() throws Exception {
        Map<String, String> files = RuleBundle.files(RULES);
        RuleBundle first = CompiledBundle.of(Pushes.json("shared", files)).bundle();
        RuleBundle second = CompiledBundle.of(Pushes.json("shared", files)).bundle();

        assertThat(first.rules().rules()).isNotEmpty();
        assertThat(second.rules()).isSameAs(first.rules());
        assertThat(second.dataClasses()).isSameAs(first.dataClasses());
        assertThat(first.detectors()).isNotEmpty().doesNotContainAnyElementsOf(second.detectors());
        assertThat(second.detectors())
                .extracting(detector -> detector.header())
                .containsExactlyElementsOf(RuleBundle.of(files, new DatabaseFieldMapping()).detectors().stream()
                        .map(detector -> detector.header())
                        .toList());
    }

    @Test
    void pushesWithDifferentTextsAreDifferent() throws Exception {
        CompiledBundle good = CompiledBundle.of(Pushes.bruteForce("good"));
        CompiledBundle bad = CompiledBundle.of(Pushes.json("bad", Map.of("a.yml", "title: no rule at all")));
        CompiledBundle other = CompiledBundle.of(Pushes.bruteForce("other"));

        assertThat(good.isRefused()).isFalse();
        assertThat(bad.isRefused()).isTrue();
        assertThat(CompiledBundle.of(Pushes.bruteForce("good")).id()).isEqualTo("good");
        assertThat(other.id()).isEqualTo("other");
    }
}
