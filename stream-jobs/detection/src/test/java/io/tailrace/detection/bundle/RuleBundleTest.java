package io.tailrace.detection.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.detection.sigma.rule.FieldMapping;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuleBundleTest {

    private static final String RULE =
            "title: %s\nlogsource: {category: database}\ndetection: {s: {user: root}, condition: s}\n";

    @TempDir
    private Path directory;

    @Test
    void rulesOfAllFilesAreCompiledTogether() {
        RuleBundle bundle = bundle(Map.of("a.yml", RULE.formatted("one"), "b/c.yml", RULE.formatted("two")));

        assertThat(bundle.isRefused()).isFalse();
        assertThat(bundle.rules().rules())
                .extracting(rule -> rule.header().title())
                .containsExactly("one", "two");
    }

    @Test
    void oneErrorRefusesTheWhole() {
        RuleBundle bundle = bundle(Map.of("a.yml", RULE.formatted("one"), "b/c.yml", "title: two\n"));

        assertThat(bundle.isRefused()).isTrue();
        assertThat(bundle.rules().rules()).isEmpty();
        assertThat(bundle.errors()).singleElement().satisfies(error -> {
            assertThat(error.file()).isEqualTo("b/c.yml");
            assertThat(error.line()).isEqualTo(1);
            assertThat(error.reason()).contains("no logsource");
        });
    }

    @Test
    void anUnknownDetectorRefusesTheWhole() {
        RuleBundle bundle = bundle(Map.of("a.yml", RULE.formatted("one"), "detectors.yaml", "\nsixth_sense: {}\n"));

        assertThat(bundle.rules().rules()).isEmpty();
        assertThat(bundle.errors()).singleElement().satisfies(error -> assertThat(error.toString())
                .startsWith("detectors.yaml:2:1: there is no detector sixth_sense"));
    }

    @Test
    void filesOfADirectoryHaveRelativePaths() throws IOException {
        Files.createDirectories(directory.resolve("b"));
        Files.writeString(directory.resolve("b/c.yml"), RULE.formatted("one"));
        Files.writeString(directory.resolve("detectors.yaml"), "");
        Files.writeString(directory.resolve("b/c.fires.log"), "no rule");

        assertThat(RuleBundle.files(directory)).containsOnlyKeys("b/c.yml", "detectors.yaml");
    }

    @Test
    void placeholdersFillRules() {
        String rule =
                "title: t\nlogsource: {category: x}\ndetection:\n  s:\n    user|expand: '%admins%'\n  condition: s\n";

        assertThat(bundle(Map.of("a.yml", rule, "placeholders.yaml", "admins: [root, dba*]\nother: x\n"))
                        .errors())
                .isEmpty();
        assertThat(bundle(Map.of("a.yml", rule)).errors()).singleElement().satisfies(error -> assertThat(error)
                .hasToString(
                        "a.yml:5:5: no values are known for the placeholder %admins%; placeholders.yaml has none"));
        assertThat(bundle(Map.of("a.yml", rule, "placeholders.yaml", "admins: []\n"))
                        .errors())
                .first()
                .hasToString("a.yml:5:5: no values are known for the placeholder %admins%; placeholders.yaml has none");
        assertThat(bundle(Map.of("placeholders.yaml", "\na: []\n")).errors())
                .singleElement()
                .hasToString("placeholders.yaml:2:4: the placeholder a has no values");
        assertThat(bundle(Map.of("placeholders.yaml", "'%a%': x\n")).isRefused())
                .isTrue();
    }

    @Test
    void filesAreUtf8() throws IOException {
        Files.write(directory.resolve("c.yml"), new byte[] {(byte) 0xff});

        assertThatThrownBy(() -> RuleBundle.files(directory))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("UTF-8");
    }

    private static RuleBundle bundle(Map<String, String> files) {
        return RuleBundle.of(files, FieldMapping.ANY);
    }
}
