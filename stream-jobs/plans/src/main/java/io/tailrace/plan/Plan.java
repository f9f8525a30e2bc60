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
 * @param format format of the document
 * @param schemaVersion {@code json_schema_version} (MySQL from 9.x on); may be empty
 * @param statement the statement as rewritten by the optimizer, without literals (version 2); may be empty
 * @param optimizationMillis time spent on optimizing, milliseconds (MariaDB's ANALYZE); NaN if unknown
 * @param root its last step, which returns the result
 * @param others members around the plan for which the model has no field, without literals
 * @param repairs what was not valid JSON in the document
 * @param doubtful whether the end of a literal of the document is unknown, so that none of its names and numbers is
 *     shown
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

    /** Returns all nodes, each before its inputs, and these before its subqueries. */
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

    /** Returns whether the statement ran and was measured. */
    public boolean isMeasured() {
        return nodes().stream().anyMatch(node -> node.measurements().isKnown());
    }
}
