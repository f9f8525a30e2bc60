package io.tailrace.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.plan.advice.Advisor;
import io.tailrace.plan.reader.PlanDocuments;
import io.tailrace.plan.record.PlanJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The expected model of each plan in {@code golden}; {@code -Dgolden.update=true} writes the models again. */
class PlanGoldenTest {

    private static final Path GOLDEN = Path.of("src/test/resources/golden");

    private final ObjectMapper json = new ObjectMapper();

    static List<Path> cases() throws IOException {
        try (Stream<Path> paths = Files.list(GOLDEN)) {
            return paths.sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void readsThePlan(Path directory) throws IOException {
        String read = read(Files.readAllBytes(directory.resolve("input.txt")));
        Path expected = directory.resolve("expected.json");
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(expected, read);
        }
        assertThat(read).isEqualTo(Files.readString(expected)).doesNotContain("secret");
    }

    private String read(byte[] bytes) throws IOException {
        List<String> plans = new ArrayList<>();
        PlanJson writer = new PlanJson();
        List<Plan> found = new ArrayList<>();
        new PlanDocuments().read(bytes, new PlanDocuments.Listener() {
            @Override
            public void plan(Plan plan, int line, int offset) {
                found.add(plan);
            }

            @Override
            public void problem(String message, int line, int offset) {
                plans.add(message);
            }
        });
        for (Plan plan : found) {
            JsonNode tree = json.readTree(writer.write(plan));
            plans.add(json.writerWithDefaultPrettyPrinter().writeValueAsString(tree));
            Advisor.of(plan).forEach(advice -> plans.add("advice: " + advice));
        }
        return String.join("\n", plans) + "\n";
    }
}
