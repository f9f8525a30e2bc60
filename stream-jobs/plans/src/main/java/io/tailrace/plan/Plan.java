package io.tailrace.plan;

import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.Repairs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A statement's plan.
 *
 * @param format what it was read from
 * @param schemaVersion {@code json_schema_version} (MySQL from 9.x on); may be empty
 * @param statement what the optimizer made of the statement, without literals (version 2); may be empty
 * @param optimizationMillis spent on optimizing, milliseconds (MariaDB's ANALYZE); NaN where unknown
 * @param root its last step, from which the result comes
 * @param others members around the plan that the model has no field for, without literals
 * @param repairs what was not JSON in the document
 * @param doubtful where a literal of the document ends cannot be told: of its names and numbers none is shown
 */
public record Plan(
        PlanFormat format,
        String schemaVersion,
        String statement,
        double optimizationMillis,
        PlanNode root,
        Map<String, JsonValue> others,
        Repairs repairs,
        boolean doubtful) {

    /** All nodes, each before its inputs, and those before its subqueries. */
    public List<PlanNode> nodes() {
        List<PlanNode> nodes = new ArrayList<>();
        visit(root, nodes::add);
        return nodes;
    }

    private static void visit(PlanNode node, Consumer<PlanNode> visitor) {
        visitor.accept(node);
        node.inputs().forEach(input -> visit(input, visitor));
        node.subqueries().forEach(subquery -> visit(subquery, visitor));
    }

    /** True where the statement ran and was measured. */
    public boolean isMeasured() {
        return nodes().stream().anyMatch(node -> node.measurements().isKnown());
    }
}
