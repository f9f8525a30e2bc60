package io.tailrace.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.cli.Main;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.cli.terminal.TerminalCapabilities;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuleNavigatorCommandTest {

    private static final String RULES =
            """
            title: A
            name: a
            id: 11111111-1111-1111-1111-111111111111
            level: high
            tags: [attack.credential-access, attack.T1110.003, attack.t1110.003]
            logsource: {category: database}
            detection: {selection: {user: a}, condition: selection}
            ---
            title: B
            name: b
            id: 22222222-2222-2222-2222-222222222222
            level: informational
            tags: [attack.t1110.003]
            logsource: {category: database}
            detection: {selection: {user: b}, condition: selection}
            ---
            title: C
            name: c
            id: 33333333-3333-3333-3333-333333333333
            level: medium
            tags: [attack.t1110.003, attack.t1078, other.t9999, attack.ta0001]
            correlation: {type: event_count, rules: [b], group-by: [user], timespan: 5m, condition: {gte: 3}}
            """;

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @Test
    void theScoreOfATechniqueIsTheNumberOfItsAlertingRules() throws IOException {
        Files.writeString(directory.resolve("rules.yml"), RULES);
        assertThat(run(directory)).as(err.toString(StandardCharsets.UTF_8)).isZero();
        JsonNode layer = new ObjectMapper().readTree(out.toByteArray());
        assertThat(layer.path("versions").path("layer").asText()).isEqualTo("4.5");
        assertThat(layer.path("domain").asText()).isEqualTo("enterprise-attack");
        assertThat(scores(layer)).isEqualTo(Map.of("T1110.003", 2, "T1078", 1));
        assertThat(layer.path("techniques").get(1).path("comment").asText()).isEqualTo("A\nC");
        assertThat(layer.path("gradient").path("maxValue").asInt()).isEqualTo(2);
    }

    @Test
    void theScoreCanBeTheHighestLevel() throws IOException {
        Files.writeString(directory.resolve("rules.yml"), RULES);
        assertThat(run(directory, "--by-level")).isZero();
        JsonNode layer = new ObjectMapper().readTree(out.toByteArray());
        assertThat(scores(layer)).isEqualTo(Map.of("T1110.003", 4, "T1078", 3));
        assertThat(layer.path("gradient").path("maxValue").asInt()).isEqualTo(4);
    }

    @Test
    void detectorsCountToo() throws IOException {
        Files.writeString(directory.resolve("rules.yml"), RULES);
        Files.writeString(directory.resolve("detectors.yaml"), "dormant_account:\n  inactivity: 45d\n");
        assertThat(run(directory)).as(err.toString(StandardCharsets.UTF_8)).isZero();
        assertThat(scores(new ObjectMapper().readTree(out.toByteArray()))).containsEntry("T1078", 2);
    }

    @Test
    void aRefusedRuleIsReportedAndTheLayerOfTheOthersIsWritten() throws IOException {
        Files.writeString(directory.resolve("rules.yml"), RULES + "---\ntitle: D\nlevel: high\n");
        assertThat(run(directory)).isEqualTo(1);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("rules.yml");
        assertThat(scores(new ObjectMapper().readTree(out.toByteArray()))).containsKey("T1110.003");
    }

    private int run(Path rules, String... options) {
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                TerminalCapabilities.NONE);
        List<String> command = new ArrayList<>(List.of("rules", "navigator", "--rules", rules.toString()));
        command.addAll(List.of(options));
        return Main.run(terminal, Clock.systemUTC(), command.toArray(String[]::new));
    }

    private static Map<String, Integer> scores(JsonNode layer) {
        Map<String, Integer> scores = new HashMap<>();
        layer.path("techniques")
                .forEach(each -> scores.put(
                        each.path("techniqueID").asText(), each.path("score").asInt()));
        return scores;
    }
}
