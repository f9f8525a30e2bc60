package io.tailrace.plan.reader;

import io.tailrace.plan.IndexMerge;
import io.tailrace.plan.Operation;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonArray;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.plan.json.JsonValue.Member;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the formats with nested query blocks: version 1 of MySQL and Percona Server (sql/opt_explain_json.cc, 5.6 to
 * 9) and MariaDB's EXPLAIN and ANALYZE (sql/sql_explain.cc, 10.1 to 11.8). The name of a member alone determines its
 * meaning; each server has names that the other does not use. Not thread-safe.
 */
final class QueryBlockReader {

    /** Reads a member of a node's object. */
    private interface Reading {
        void read(QueryBlockReader reader, NodeBuilder node, JsonValue value);
    }

    /** Members that contain a step of the plan, and its operation. */
    private static final Map<String, Operation> STEPS = Map.ofEntries(
            Map.entry("query_block", Operation.QUERY_BLOCK),
            Map.entry("table", Operation.TABLE),
            Map.entry("nested_loop", Operation.JOIN),
            Map.entry("ordering_operation", Operation.SORT),
            Map.entry("grouping_operation", Operation.AGGREGATE),
            Map.entry("duplicates_removal", Operation.DISTINCT),
            Map.entry("windowing", Operation.WINDOW),
            Map.entry("buffer_result", Operation.BUFFER),
            Map.entry("materialized_from_subquery", Operation.MATERIALIZE),
            Map.entry("union_result", Operation.UNION),
            Map.entry("unary_result", Operation.UNION),
            Map.entry("intersect_result", Operation.INTERSECT),
            Map.entry("except_result", Operation.EXCEPT),
            // MariaDB
            Map.entry("filesort", Operation.SORT),
            Map.entry("temporary_table", Operation.TEMPORARY_TABLE),
            Map.entry("duplicate_removal", Operation.DISTINCT),
            Map.entry("window_functions_computation", Operation.WINDOW),
            Map.entry("buffer", Operation.BUFFER),
            Map.entry("materialized", Operation.MATERIALIZE),
            Map.entry("materialization", Operation.MATERIALIZE),
            Map.entry("recursive_union", Operation.UNION),
            Map.entry("expression_cache", Operation.SUBQUERY_CACHE),
            Map.entry("subquery_cache", Operation.SUBQUERY_CACHE));

    /** MariaDB's members around one step that describe this step. */
    private static final Map<String, String> WRAPPERS = Map.of(
            "block-nl-join", "table",
            "range-checked-for-each-record", "table",
            "full-scan-on-null_key", "table",
            "read_sorted_file", "filesort");

    /** Members that contain statements within expressions, and their location. */
    private static final Map<String, String> SUBQUERIES = Map.ofEntries(
            Map.entry("attached_subqueries", "condition"),
            Map.entry("select_list_subqueries", "select list"),
            Map.entry("having_subqueries", "having"),
            Map.entry("group_by_subqueries", "group by"),
            Map.entry("order_by_subqueries", "order by"),
            Map.entry("optimized_away_subqueries", "optimized away"),
            Map.entry("update_value_subqueries", "update values"),
            Map.entry("insert_values_subqueries", "insert values"),
            Map.entry("insert_update_subqueries", "insert update"),
            Map.entry("subqueries", "expression"));

    private static final Map<String, String> CONDITIONS = Map.of(
            "attached_condition", "attached",
            "index_condition", "index",
            "index_condition_bka", "index",
            "having_condition", "having",
            "const_condition", "constant",
            "outer_ref_condition", "outer",
            "pseudo_bits_condition", "pseudo bits",
            "pushed_join", "pushed join",
            "secondary_engine_condition", "secondary engine",
            "pushed_condition", "pushed");

    private static final Map<String, PlanFlag> FLAGS = Map.ofEntries(
            Map.entry("using_filesort", PlanFlag.FILESORT),
            Map.entry("using_temporary_table", PlanFlag.TEMPORARY_TABLE),
            Map.entry("using_index", PlanFlag.INDEX_ONLY),
            Map.entry("using_index_for_group_by", PlanFlag.INDEX_FOR_GROUP_BY),
            Map.entry("using_MRR", PlanFlag.MULTI_RANGE_READ),
            Map.entry("backward_index_scan", PlanFlag.BACKWARD_SCAN),
            Map.entry("dependent", PlanFlag.DEPENDENT),
            Map.entry("lateral", PlanFlag.LATERAL),
            Map.entry("recursive", PlanFlag.RECURSIVE),
            Map.entry("distinct", PlanFlag.DISTINCT),
            Map.entry("first_match", PlanFlag.FIRST_MATCH),
            Map.entry("loosescan", PlanFlag.LOOSE_SCAN),
            Map.entry("loose_scan", PlanFlag.LOOSE_SCAN),
            Map.entry("not_exists", PlanFlag.NOT_EXISTS),
            Map.entry("rematerialize", PlanFlag.REMATERIALIZE),
            Map.entry("const_row_not_found", PlanFlag.CONST_ROW_NOT_FOUND),
            Map.entry("insert", PlanFlag.INSERTED),
            Map.entry("update", PlanFlag.UPDATED),
            Map.entry("delete", PlanFlag.DELETED),
            Map.entry("replace", PlanFlag.REPLACED),
            Map.entry("r_used_priority_queue", PlanFlag.PRIORITY_QUEUE));

    /** Flags whose members contain more information than the flag. */
    private static final Set<String> KEPT_FLAGS = Set.of("first_match", "rematerialize", "using_index_for_group_by");

    private static final Map<String, Reading> READINGS = readings();

    /** Maximum nesting of steps that is safe for a thread's stack. */
    private static final int MAX_DEPTH = 1050;

    private static final JsonValue LEFT_OUT =
            new JsonValue.JsonString("omitted: nested too deep", "omitted: nested too deep");

    private final LiteralMask mask;
    private int depth;

    QueryBlockReader(LiteralMask mask) {
        this.mask = mask;
    }

    private static Map<String, Reading> readings() {
        Map<String, Reading> readings = new HashMap<>();
        STEPS.forEach((name, operation) ->
                readings.put(name, (reader, node, value) -> node.inputs.addAll(reader.steps(operation, value))));
        WRAPPERS.forEach(
                (name, inner) -> readings.put(name, (reader, node, value) -> reader.wrapped(node, name, value)));
        SUBQUERIES.forEach((name, location) ->
                readings.put(name, (reader, node, value) -> reader.subqueries(node, location, value)));
        CONDITIONS.forEach((name, kind) -> readings.put(
                name,
                (reader, node, value) ->
                        node.condition(kind, reader.mask.condition(value), LiteralMask.hasLeadingWildcard(value))));
        FLAGS.forEach((name, flag) -> readings.put(name, (reader, node, value) -> {
            node.flag(flag, MemberValues.holds(value));
            if (KEPT_FLAGS.contains(name) && !value.isTrue()) {
                node.other(reader.mask.name(name), reader.mask.value(value));
            }
        }));
        addTable(readings);
        addEstimates(readings);
        addMeasurements(readings);
        addRest(readings);
        return Map.copyOf(readings);
    }

    private static void addTable(Map<String, Reading> readings) {
        readings.put("table_name", (reader, node, value) -> {
            node.isTable = true;
            node.alias = value.text();
        });
        readings.put("access_type", (reader, node, value) -> {
            node.isTable = true;
            node.access(value.text());
        });
        readings.put("key", (reader, node, value) -> node.index = value.text());
        readings.put("key_length", (reader, node, value) -> node.keyLength = value.text());
        readings.put("possible_keys", (reader, node, value) -> node.possibleIndexes = MemberValues.names(value));
        readings.put("used_key_parts", (reader, node, value) -> node.keyParts = MemberValues.names(value));
        readings.put("ref", (reader, node, value) -> node.ref = MemberValues.names(value));
        readings.put("partitions", (reader, node, value) -> node.partitions = MemberValues.names(value));
        readings.put("used_columns", (reader, node, value) -> node.usedColumns = MemberValues.names(value));
        readings.put("index_merge", (reader, node, value) -> node.index = reader.mask.name(IndexMerge.text(value)));
        readings.put("table_function", (reader, node, value) -> {
            node.flag(PlanFlag.TABLE_FUNCTION, true);
            node.describe(value.text());
        });
    }

    private static void addEstimates(Map<String, Reading> readings) {
        readings.put("rows", (reader, node, value) -> node.examinedRows = value.number());
        readings.put("rows_examined_per_scan", (reader, node, value) -> node.examinedRows = value.number());
        readings.put("rows_produced_per_join", (reader, node, value) -> node.producedRows = value.number());
        readings.put("filtered", (reader, node, value) -> node.filteredPercent = value.number());
        readings.put("cost", (reader, node, value) -> node.cost = value.number());
        readings.put("loops", (reader, node, value) -> node.expectedLoops = value.number());
        readings.put("cost_info", QueryBlockReader::costs);
    }

    /**
     * Reads {@code query_cost} of a block or {@code prefix_cost} of a table, both with the cost of all preceding
     * steps.
     */
    private void costs(NodeBuilder node, JsonValue value) {
        for (JsonObject costs : MemberValues.objects(value)) {
            for (Member cost : costs.members()) {
                if (cost.name().equals("query_cost") || cost.name().equals("prefix_cost")) {
                    node.cost = cost.value().number();
                } else {
                    node.other(mask.name(cost.name()), cost.value());
                }
            }
        }
    }

    private static void addMeasurements(Map<String, Reading> readings) {
        readings.put("r_rows", (reader, node, value) -> node.actualRows = value.number());
        readings.put("r_output_rows", (reader, node, value) -> node.actualRows = value.number());
        readings.put("r_loops", (reader, node, value) -> node.loops = value.number());
        readings.put("r_total_time_ms", (reader, node, value) -> node.totalMillis = value.number());
        readings.put("r_table_time_ms", QueryBlockReader::addTime);
        readings.put("r_other_time_ms", QueryBlockReader::addTime);
        readings.put("r_unpack_time_ms", QueryBlockReader::addTime);
        readings.put("r_filtered", (reader, node, value) -> {
            if (Double.isNaN(node.actualFilteredPercent)) {
                node.actualFilteredPercent = value.number();
            } else {
                node.other("r_filtered", value);
            }
        });
        readings.put("r_sort_passes", (reader, node, value) -> {
            node.flag(PlanFlag.SORT_ON_DISK, value.number() > 0);
            node.other("r_sort_passes", value);
        });
    }

    /** Adds the time of a node, which MariaDB reports in two parts: within the engine and outside of it. */
    private void addTime(NodeBuilder node, JsonValue value) {
        double known = Double.isNaN(node.totalMillis) ? 0 : node.totalMillis;
        double more = value.number();
        node.totalMillis = Double.isNaN(more) ? node.totalMillis : known + more;
    }

    private static void addRest(Map<String, Reading> readings) {
        readings.put("select_id", (reader, node, value) -> node.selectId = MemberValues.count(value));
        readings.put(
                "cacheable", (reader, node, value) -> node.flag(PlanFlag.UNCACHEABLE, "false".equals(value.text())));
        readings.put("message", (reader, node, value) -> node.describe(reader.mask.condition(value)));
        readings.put("operation", (reader, node, value) -> node.describe(reader.mask.condition(value)));
        readings.put("sort_key", (reader, node, value) -> node.describe(reader.mask.condition(value)));
        readings.put("using_join_buffer", (reader, node, value) -> {
            node.flag(PlanFlag.JOIN_BUFFER, MemberValues.holds(value));
            node.joinAlgorithm = value.isTrue() ? "" : value.text();
        });
        readings.put("join_type", (reader, node, value) -> node.joinAlgorithm = value.text());
        readings.put("buffer_type", (reader, node, value) -> node.joinBuffer = value.text());
        readings.put(
                "buffer_size",
                (reader, node, value) -> node.joinBuffer =
                        node.joinBuffer.isEmpty() ? value.text() : node.joinBuffer + " " + value.text());
        readings.put("mrr_type", (reader, node, value) -> {
            node.flag(PlanFlag.MULTI_RANGE_READ, true);
            node.other("mrr_type", reader.mask.value(value));
        });
        readings.put("rowid_filter", (reader, node, value) -> {
            node.flag(PlanFlag.ROWID_FILTER, true);
            node.other("rowid_filter", reader.mask.value(value));
        });
        readings.put("query_specifications", QueryBlockReader::queries);
        readings.put("insert_from", (reader, node, value) -> MemberValues.objects(value)
                .forEach(from -> reader.members(node, from)));
        readings.put("windows", QueryBlockReader::windows);
        readings.put(
                "sorts", (reader, node, value) -> MemberValues.objects(value).forEach(sort -> reader.sort(node, sort)));
    }

    /** Returns the plan of the document. */
    PlanNode root(JsonValue queryBlock) {
        depth = 0;
        List<PlanNode> steps = steps(Operation.QUERY_BLOCK, queryBlock);
        return steps.isEmpty() ? new NodeBuilder(Operation.QUERY_BLOCK).build() : steps.get(0);
    }

    private List<PlanNode> steps(Operation operation, JsonValue value) {
        if (operation == Operation.JOIN || value instanceof JsonArray) {
            return List.of(joined(operation, value));
        }
        return value instanceof JsonObject object ? List.of(step(operation, object)) : List.of();
    }

    /** Joins the members of a list in its order. */
    private PlanNode joined(Operation operation, JsonValue value) {
        NodeBuilder node = new NodeBuilder(operation);
        MemberValues.objects(value).forEach(element -> members(node, element));
        return node.build();
    }

    private PlanNode step(Operation operation, JsonObject object) {
        NodeBuilder node = new NodeBuilder(operation);
        members(node, object);
        return finished(node);
    }

    private void members(NodeBuilder node, JsonObject object) {
        depth++;
        for (Member member : object.members()) {
            Reading reading = READINGS.get(member.name());
            if (reading == null) {
                node.other(mask.name(member.name()), mask.value(member.value()));
            } else if (depth >= MAX_DEPTH && !(member.value() instanceof JsonValue.JsonString)) {
                node.other(mask.name(member.name()), LEFT_OUT);
            } else {
                reading.read(this, node, member.value());
            }
        }
        depth--;
    }

    private static PlanNode finished(NodeBuilder node) {
        boolean sorts = node.operation == Operation.SORT
                && node.others.keySet().stream().noneMatch("using_filesort"::equals);
        if (sorts && !node.flags.contains(PlanFlag.FILESORT) && node.detail.length() > 0) {
            node.flags.add(PlanFlag.FILESORT);
        }
        node.flag(PlanFlag.INDEX_CONDITION_PUSHDOWN, node.conditions.stream().anyMatch(c -> c.kind()
                .equals("index")));
        node.flag(PlanFlag.TEMPORARY_TABLE, node.operation == Operation.TEMPORARY_TABLE);
        node.flag(
                PlanFlag.MATERIALIZED,
                node.inputs.stream().anyMatch(input -> input.operation() == Operation.MATERIALIZE));
        if (joinsImplicitly(node)) {
            NodeBuilder join = new NodeBuilder(Operation.JOIN);
            join.inputs.addAll(node.inputs);
            node.inputs.clear();
            node.inputs.add(join.build());
        }
        return node.build();
    }

    /**
     * Returns whether the node contains a join without a name: MariaDB up to 10.4 lists the tables of a join one
     * after the other.
     */
    private static boolean joinsImplicitly(NodeBuilder node) {
        boolean single = node.operation != Operation.JOIN
                && node.operation != Operation.UNION
                && node.operation != Operation.INTERSECT
                && node.operation != Operation.EXCEPT
                && !node.isTable;
        return single
                && node.inputs.size() > 1
                && node.inputs.stream().noneMatch(i -> i.has(PlanFlag.INSERTED) || i.has(PlanFlag.REPLACED));
    }

    /** Adds the properties of a wrapper around one step to that step. */
    private void wrapped(NodeBuilder parent, String name, JsonValue value) {
        String inner = WRAPPERS.get(name);
        for (JsonObject wrapper : MemberValues.objects(value)) {
            NodeBuilder node = new NodeBuilder(STEPS.get(inner));
            node.flag(PlanFlag.JOIN_BUFFER, name.equals("block-nl-join"));
            node.flag(PlanFlag.RANGE_CHECKED_FOR_EACH_RECORD, name.startsWith("range-checked"));
            node.flag(PlanFlag.FULL_SCAN_ON_NULL_KEY, name.startsWith("full-scan"));
            inlined(node, wrapper, inner);
            parent.inputs.add(finished(node));
        }
    }

    /** Reads an object into a node, including the object of one of its members. */
    private void inlined(NodeBuilder node, JsonObject wrapper, String inner) {
        MemberValues.objects(wrapper.get(inner)).forEach(step -> members(node, step));
        boolean first = true;
        for (Member member : wrapper.members()) {
            if (first && member.name().equals(inner)) {
                first = false;
            } else {
                members(node, new JsonObject(List.of(member)));
            }
        }
    }

    private void subqueries(NodeBuilder node, String location, JsonValue value) {
        for (JsonObject subquery : MemberValues.objects(value)) {
            node.subqueries.add(query(subquery, location));
        }
    }

    private void queries(NodeBuilder node, JsonValue value) {
        for (JsonObject query : MemberValues.objects(value)) {
            node.inputs.add(query(query, ""));
        }
    }

    /** Reads a query and its properties: {@code dependent}, {@code cacheable}. */
    private PlanNode query(JsonObject query, String location) {
        String step = query.members().stream()
                .map(Member::name)
                .filter(STEPS::containsKey)
                .findFirst()
                .orElse("query_block");
        boolean inline = !step.equals("table") && !step.equals("nested_loop");
        NodeBuilder node = new NodeBuilder(inline ? STEPS.get(step) : Operation.QUERY_BLOCK);
        node.location = location;
        if (inline) {
            inlined(node, query, step);
        } else {
            members(node, query);
        }
        return finished(node);
    }

    /** Reads windows, which are computed one after the other, each optionally after a sort. */
    private void windows(NodeBuilder node, JsonValue value) {
        for (JsonObject window : MemberValues.objects(value)) {
            node.flag(PlanFlag.FILESORT, window.get("using_filesort").isTrue());
            node.flag(
                    PlanFlag.TEMPORARY_TABLE,
                    window.get("using_temporary_table").isTrue());
            node.describe(String.join(", ", MemberValues.names(mask.value(window.get("functions")))));
            node.other("window", mask.value(window));
        }
    }

    /** Reads the sort that MariaDB needs for a window. */
    private void sort(NodeBuilder node, JsonObject sort) {
        node.flag(PlanFlag.FILESORT, true);
        node.describe(
                mask.condition(sort.get("filesort") instanceof JsonObject o ? o.get("sort_key") : JsonValue.NULL));
        node.other("sort", mask.value(sort));
    }
}
