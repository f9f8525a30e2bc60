package io.tailrace.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.plan.reader.PlanReader;
import io.tailrace.plan.shape.PlanHash;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Statements that the corpora contain in both versions of MySQL's format have one hash. Exceptions are listed in
 * target/plan-hash-pairs.md, with the information that one of the two versions lacks.
 */
class PlanHashCorpusTest {

    private static final double MIN_SHARE = 0.95;
    private static final Path REPORT = Path.of("target/plan-hash-pairs.md");

    private final PlanReader reader = new PlanReader();

    private record Pair(Path first, Path second) {}

    @Test
    void bothVersionsOfAPlanHaveOneHash() throws IOException {
        List<String> different = new ArrayList<>();
        List<Pair> pairs = pairs();
        for (Pair pair : pairs) {
            Plan first = plan(pair.first());
            Plan second = plan(pair.second());
            if (!PlanHash.of(first).equals(PlanHash.of(second))) {
                different.add("| %s | `%s` | `%s` | %s |"
                        .formatted(
                                pair.second().getFileName(),
                                PlanHash.shape(first),
                                PlanHash.shape(second),
                                reason(second)));
            }
        }
        String head =
                "%d pairs, %d with one hash%n%n| plan | version 1 | version 2 | what lacks |%n| --- | --- | --- | --- |%n"
                        .formatted(pairs.size(), pairs.size() - different.size());
        Files.createDirectories(REPORT.getParent());
        Files.writeString(REPORT, head + String.join("\n", different) + "\n");
        assertThat(1 - (double) different.size() / pairs.size()).isGreaterThanOrEqualTo(MIN_SHARE);
        assertThat(different).allMatch(line -> line.contains("version 2 does not describe"));
    }

    private static String reason(Plan second) {
        boolean notDescribed = second.nodes().stream().anyMatch(node -> node.operation() == Operation.NOT_DESCRIBED);
        return notDescribed ? "version 2 does not describe what the iterator executor does not execute" : "unknown";
    }

    private static List<Pair> pairs() throws IOException {
        List<Pair> pairs = new ArrayList<>();
        for (Path second : Corpora.documents("ours/explain/real")) {
            if (second.toString().endsWith("_v2.json")) {
                String first = second.toString().replaceFirst("(analyze|explain)_v2", "explain");
                pairs.add(new Pair(Path.of(first), second));
            }
        }
        pairs.addAll(indexedPairs());
        return pairs;
    }

    /** Pairs of other projects' tests: statements of one result file, by the index of the corpora. */
    private static List<Pair> indexedPairs() throws IOException {
        Map<String, Path> firsts = new HashMap<>();
        Map<String, Path> seconds = new HashMap<>();
        ObjectMapper json = new ObjectMapper();
        for (String line : Files.readAllLines(Corpora.file("ours/explain/index.jsonl"))) {
            JsonNode entry = json.readTree(line);
            String path = entry.path("file").asText().replace("D_explain/", "third-party/explain/");
            String statement = Stream.of("product", "result_file", "statement")
                    .map(name -> entry.path(name).asText())
                    .collect(Collectors.joining(" "));
            String kind = entry.path("class").asText();
            if (Files.exists(Corpora.file(path)) && kind.startsWith("explain_v")) {
                (kind.equals("explain_v2") ? seconds : firsts).put(statement, Corpora.file(path));
            }
        }
        return seconds.keySet().stream()
                .filter(firsts::containsKey)
                .sorted()
                .map(statement -> new Pair(firsts.get(statement), seconds.get(statement)))
                .toList();
    }

    private Plan plan(Path path) throws IOException {
        byte[] bytes = Files.readAllBytes(path);
        return reader.read(bytes, 0, bytes.length).orElseThrow();
    }
}
