package io.tailrace.plan.reader;

import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanFormat;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.json.JsonDocument;
import io.tailrace.plan.json.JsonReader;
import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.plan.json.JsonValue.Member;
import io.tailrace.plan.json.Repairs;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads plans of all servers in all formats. The members of the document identify the format. Not thread-safe. */
public final class PlanReader {

    private static final Set<String> AROUND_BLOCKS = Set.of("query_block", "query_optimization");
    private static final Set<String> AROUND_ITERATORS = Set.of("query", "query_plan", "json_schema_version");

    private final JsonReader json = new JsonReader();
    private final LiteralMask mask = new LiteralMask();
    private final QueryBlockReader blocks = new QueryBlockReader(mask);
    private final IteratorPlanReader iterators = new IteratorPlanReader(mask);

    /** Reads one document; returns empty if it is not a plan. */
    public Optional<Plan> read(byte[] bytes, int from, int to) {
        return plan(json.read(bytes, from, to));
    }

    /** Converts a document to a plan; returns empty if it is not one. */
    public Optional<Plan> plan(JsonDocument document) {
        if (!(document.value() instanceof JsonObject whole)) {
            return Optional.empty();
        }
        boolean doubtful = document.doubtful();
        mask.distrust(doubtful);
        JsonObject object = doubtful ? DocumentMask.of(whole) : whole;
        if (object.has("query_block")) {
            return Optional.of(blocks(BlockFormat.of(whole), object, document.repairs(), doubtful));
        }
        if (object.get("query_plan") instanceof JsonObject plan) {
            return Optional.of(iterators(object, plan, document.repairs(), doubtful));
        }
        return object.has("operation")
                ? Optional.of(iterators(object, object, document.repairs(), doubtful))
                : Optional.empty();
    }

    private Plan blocks(PlanFormat format, JsonObject object, Repairs repairs, boolean doubtful) {
        PlanNode root = blocks.root(object.get("query_block"));
        Map<String, JsonValue> others = new LinkedHashMap<>();
        for (Member member : object.members()) {
            if (!AROUND_BLOCKS.contains(member.name())) {
                others.put(mask.name(member.name()), mask.value(member.value()));
            }
        }
        double millis = object.get("query_optimization") instanceof JsonObject optimization
                ? optimization.get("r_total_time_ms").number()
                : Double.NaN;
        return new Plan(format, "", "", millis, root, others, repairs, doubtful);
    }

    private Plan iterators(JsonObject object, JsonObject plan, Repairs repairs, boolean doubtful) {
        Map<String, JsonValue> others = new LinkedHashMap<>();
        for (Member member : object.members()) {
            // If nothing surrounds a plan, the root node keeps the unknown members.
            boolean around = object != plan && !AROUND_ITERATORS.contains(member.name());
            if (around || member.name().equals("query_type")) {
                others.put(mask.name(member.name()), mask.value(member.value()));
            }
        }
        String version = object.get("json_schema_version").text();
        String statement = mask.statement(object.get("query").text());
        return new Plan(
                PlanFormat.MYSQL_2, version, statement, Double.NaN, iterators.node(plan), others, repairs, doubtful);
    }
}
