package io.tailrace.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.plan.reader.PlanReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * All plans of the corpora are read into a model with every table and access type. The expected ones are found
 * without the reader, by patterns of the members' names.
 */
class CorpusTest {

    private static final String TEXT = "\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"";
    private static final Pattern TABLE_NAME = Pattern.compile("\"table_name" + TEXT);
    private static final Pattern ACCESS_TYPE = Pattern.compile("\"access_type" + TEXT);
    private static final double MIN_OF_OTHERS = 0.995;

    private final PlanReader reader = new PlanReader();

    @Test
    void everyPlanOfARealServerIsReadWhole() throws IOException {
        List<String> failures = new ArrayList<>();
        List<Path> documents = Corpora.documents("ours/explain/real");
        for (Path document : documents) {
            failure(document).ifPresent(failures::add);
        }
        assertThat(failures).isEmpty();
    }

    @Test
    void nearlyEveryPlanOfOtherProjectsIsReadWhole() throws IOException {
        List<String> failures = new ArrayList<>();
        List<Path> documents = Corpora.documents("third-party/explain/extracted");
        for (Path document : documents) {
            failure(document).ifPresent(failures::add);
        }
        assertThat(failures).noneMatch(failure -> !failure.contains("_broken"));
        assertThat(1 - (double) failures.size() / documents.size()).isGreaterThanOrEqualTo(MIN_OF_OTHERS);
    }

    private Optional<String> failure(Path document) throws IOException {
        byte[] bytes = Files.readAllBytes(document);
        Plan plan = reader.read(bytes, 0, bytes.length).orElse(null);
        if (plan == null) {
            return Optional.of(document + ": no plan");
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        return plan.format() == PlanFormat.MYSQL_2
                ? failureOfIterators(document, text, plan)
                : failureOfBlocks(document, text, plan);
    }

    private static Optional<String> failureOfBlocks(Path document, String text, Plan plan) {
        List<TableAccess> tables = accesses(plan);
        List<String> names = tables.stream()
                .map(TableAccess::alias)
                .filter(s -> !s.isEmpty())
                .sorted()
                .toList();
        List<String> types = tables.stream()
                .map(TableAccess::serverType)
                .filter(s -> !s.isEmpty())
                .sorted()
                .toList();
        boolean known = tables.stream()
                .noneMatch(
                        t -> t.type() == AccessType.UNKNOWN && !t.serverType().isEmpty());
        return names.equals(all(TABLE_NAME, text)) && types.equals(all(ACCESS_TYPE, text)) && known
                ? Optional.empty()
                : Optional.of(document + ": " + names + types + " instead of " + all(TABLE_NAME, text)
                        + all(ACCESS_TYPE, text));
    }

    private static Optional<String> failureOfIterators(Path document, String text, Plan plan) throws IOException {
        List<String> expected = new ArrayList<>();
        walk(new ObjectMapper().readTree(text), expected);
        List<String> found = new ArrayList<>();
        for (TableAccess access : accesses(plan)) {
            if (!access.type().equals(AccessType.INDEX_MERGE) && !access.table().equals("<table function>")) {
                found.add(access.table() + ' ' + access.serverType());
            }
        }
        expected.sort(null);
        found.sort(null);
        return found.equals(expected)
                ? Optional.empty()
                : Optional.of(document + ": " + found + " instead of " + expected);
    }

    private static void walk(JsonNode node, List<String> tables) {
        String access = node.path("access_type").asText();
        if (node.has("table_name") && !access.equals("invalidate_materialized_tables")) {
            boolean written = access.isEmpty() || access.endsWith("_values");
            String type = node.path("index_access_type").asText(written ? "" : access);
            tables.add(node.path("table_name").asText() + ' ' + type);
        }
        node.forEach(child -> walk(child, tables));
    }

    private static List<TableAccess> accesses(Plan plan) {
        return plan.nodes().stream()
                .filter(PlanNode::isTable)
                .map(PlanNode::access)
                .toList();
    }

    private static List<String> all(Pattern pattern, String text) {
        List<String> found = new ArrayList<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            found.add(matcher.group(1).replace("\\\"", "\"").replace("\\\\", "\\"));
        }
        found.sort(null);
        return found;
    }
}
