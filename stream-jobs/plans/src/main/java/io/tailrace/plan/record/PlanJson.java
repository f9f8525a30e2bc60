package io.tailrace.plan.record;

import io.tailrace.json.AvroJsonWriter;
import io.tailrace.plan.AccessType;
import io.tailrace.plan.Condition;
import io.tailrace.plan.Estimates;
import io.tailrace.plan.Measurements;
import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.TableAccess;
import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.shape.PlanHash;
import java.util.Collection;
import java.util.Map;

/** Writes the model as one line of JSON, without unknown values. */
public final class PlanJson {

    private final StringBuilder out = new StringBuilder(1024);

    /** Returns the plan as one line without a line feed. */
    public String write(Plan plan) {
        out.setLength(0);
        out.append('{');
        text("format", plan.format().label());
        text("hash", PlanHash.of(plan));
        text("hash_rules", PlanHash.RULE_SET);
        text("shape", PlanHash.shape(plan));
        text("schema_version", plan.schemaVersion());
        text("statement", plan.statement());
        number("optimization_ms", plan.optimizationMillis());
        name("plan");
        node(plan.root());
        others(plan.others());
        repairs(plan);
        return out.append('}').toString();
    }

    private void node(PlanNode node) {
        out.append('{');
        text("operation", node.operation().label());
        text("detail", node.detail());
        number("select_id", node.selectId() == 0 ? Double.NaN : node.selectId());
        text("location", node.location());
        if (node.isTable()) {
            access(node.access());
        }
        if (node.join() != null) {
            text("join_type", node.join().type());
            text("join_algorithm", node.join().algorithm());
            text("join_buffer", node.join().buffer());
        }
        conditions(node.conditions());
        texts("flags", node.flags().stream().map(PlanFlag::label).toList());
        estimates(node.estimates());
        measurements(node.measurements());
        nodes("inputs", node.inputs());
        nodes("subqueries", node.subqueries());
        others(node.others());
        out.append('}');
    }

    private void access(TableAccess access) {
        text("schema", access.schema());
        text("table", access.table());
        text("alias", access.alias());
        text(
                "access_type",
                access.type() == AccessType.UNKNOWN
                        ? access.serverType()
                        : access.type().label());
        text("server_access_type", access.serverType().equals(access.type().label()) ? "" : access.serverType());
        text("index", access.index());
        texts("key_parts", access.keyParts());
        text("key_length", access.keyLength());
        texts("ref", access.ref());
        texts("possible_indexes", access.possibleIndexes());
        texts("partitions", access.partitions());
        texts("used_columns", access.usedColumns());
    }

    private void conditions(Collection<Condition> conditions) {
        if (conditions.isEmpty()) {
            return;
        }
        name("conditions");
        out.append('[');
        for (Condition condition : conditions) {
            separate('[');
            out.append('{');
            text("kind", condition.kind());
            text("text", condition.text());
            if (condition.leadingWildcard()) {
                name("leading_wildcard");
                out.append(true);
            }
            out.append('}');
        }
        out.append(']');
    }

    private void estimates(Estimates estimates) {
        number("examined_rows", estimates.examinedRows());
        number("produced_rows", estimates.producedRows());
        number("filtered_percent", estimates.filteredPercent());
        number("cost", estimates.cost());
        number("loops", estimates.loops());
    }

    private void measurements(Measurements measurements) {
        number("actual_rows", measurements.rows());
        number("actual_loops", measurements.loops());
        number("actual_first_row_ms", measurements.firstRowMillis());
        number("actual_total_ms", measurements.totalMillis());
        number("actual_filtered_percent", measurements.filteredPercent());
    }

    private void nodes(String name, Collection<PlanNode> nodes) {
        if (nodes.isEmpty()) {
            return;
        }
        name(name);
        out.append('[');
        for (PlanNode node : nodes) {
            separate('[');
            node(node);
        }
        out.append(']');
    }

    private void others(Map<String, JsonValue> others) {
        if (others.isEmpty()) {
            return;
        }
        name("others");
        out.append('{');
        others.forEach((name, value) -> {
            name(name);
            value.appendTo(out);
        });
        out.append('}');
    }

    private void repairs(Plan plan) {
        if (plan.repairs().isEmpty()) {
            return;
        }
        name("repairs");
        out.append('{');
        plan.repairs().counts().forEach((kind, count) -> number(kind.name(), count));
        out.append('}');
    }

    private void texts(String name, Collection<String> texts) {
        if (texts.isEmpty()) {
            return;
        }
        name(name);
        out.append('[');
        for (String text : texts) {
            separate('[');
            AvroJsonWriter.quote(text, out);
        }
        out.append(']');
    }

    private void text(String name, String text) {
        if (!text.isEmpty()) {
            name(name);
            AvroJsonWriter.quote(text, out);
        }
    }

    /** Writes whole numbers without a fraction, and omits NaN. */
    private void number(String name, double number) {
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            return;
        }
        name(name);
        if (number == Math.rint(number) && Math.abs(number) < 1e15) {
            out.append((long) number);
        } else {
            out.append(number);
        }
    }

    private void name(String name) {
        separate('{');
        AvroJsonWriter.quote(name, out);
        out.append(':');
    }

    private void separate(char opening) {
        if (out.charAt(out.length() - 1) != opening) {
            out.append(',');
        }
    }
}
