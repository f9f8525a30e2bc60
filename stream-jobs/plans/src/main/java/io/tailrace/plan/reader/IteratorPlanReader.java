package io.tailrace.plan.reader;

import io.tailrace.plan.AccessType;
import io.tailrace.plan.Operation;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.plan.json.JsonValue.Member;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Reads version 2 of MySQL's format (sql/join_optimizer/explain_access_path.cc, from 8.3 on): a tree of iterators,
 * each with its {@code inputs}. Not thread-safe.
 */
final class IteratorPlanReader {

    /** Reads a member of a node's object. */
    private interface Reading {
        void read(IteratorPlanReader reader, NodeBuilder node, JsonValue value);
    }

    /** Values of {@code access_type} that are not accesses to a table. */
    private static final Map<String, Operation> OPERATIONS = Map.ofEntries(
            Map.entry("table", Operation.TABLE),
            Map.entry("index", Operation.TABLE),
            Map.entry("scan_new_records", Operation.TABLE),
            Map.entry("materialize_information_schema", Operation.TABLE),
            Map.entry("materialized_table_function", Operation.TABLE),
            Map.entry("constant_row", Operation.TABLE),
            Map.entry("rowid_union", Operation.INDEX_MERGE),
            Map.entry("rowid_intersection", Operation.INDEX_MERGE),
            Map.entry("index_merge", Operation.INDEX_MERGE),
            Map.entry("join", Operation.JOIN),
            Map.entry("filter", Operation.FILTER),
            Map.entry("sort", Operation.SORT),
            Map.entry("limit", Operation.LIMIT),
            Map.entry("aggregate", Operation.AGGREGATE),
            Map.entry("temp_table_aggregate", Operation.AGGREGATE),
            Map.entry("count_rows", Operation.AGGREGATE),
            Map.entry("window", Operation.WINDOW),
            Map.entry("stream", Operation.STREAM),
            Map.entry("materialize", Operation.MATERIALIZE),
            Map.entry("append", Operation.UNION),
            Map.entry("zero_rows", Operation.ZERO_ROWS),
            Map.entry("zero_rows_aggregated", Operation.ZERO_ROWS),
            Map.entry("rows_fetched_before_execution", Operation.CONSTANT_ROWS),
            Map.entry("remove_duplicates_from_groups", Operation.DISTINCT),
            Map.entry("remove_duplicates", Operation.DISTINCT),
            Map.entry("remove_duplicates_on_index", Operation.DISTINCT),
            Map.entry("weedout", Operation.DISTINCT),
            Map.entry("insert_values", Operation.INSERT),
            Map.entry("replace_values", Operation.REPLACE),
            Map.entry("delete_rows", Operation.DELETE),
            Map.entry("update_rows", Operation.UPDATE));

    /** Prefixes of {@code operation} for nodes whose {@code access_type} does not identify the operation. */
    private static final Map<String, Operation> PHRASES = Map.of(
            "Insert into", Operation.INSERT,
            "Replace into", Operation.REPLACE,
            "Update ", Operation.UPDATE,
            "Delete from", Operation.DELETE,
            "Remove duplicate", Operation.DISTINCT,
            "Weedout", Operation.DISTINCT,
            "Sort-deduplicate by row ID", Operation.INDEX_MERGE,
            "Constant row", Operation.TABLE,
            "<not executable", Operation.NOT_DESCRIBED,
            "Append", Operation.UNION);

    private static final Map<String, AccessType> INDEX_ACCESS = Map.of(
            "index_scan", AccessType.INDEX,
            "index_range_scan", AccessType.RANGE,
            "index_skip_scan", AccessType.RANGE,
            "group_index_skip_scan", AccessType.RANGE,
            "dynamic_index_range_scan", AccessType.RANGE,
            "index_lookup", AccessType.REF,
            "multi_range_read", AccessType.REF,
            "full_text_search", AccessType.FULLTEXT);

    private static final Map<String, PlanFlag> FLAGS = Map.of(
            "covering", PlanFlag.INDEX_ONLY,
            "dependent", PlanFlag.DEPENDENT,
            "recursive", PlanFlag.RECURSIVE,
            "deduplication", PlanFlag.DISTINCT);

    /** Version 2 does not name the table that a function creates. */
    private static final String TABLE_FUNCTION = "<table function>";

    private static final Map<String, Reading> READINGS = readings();

    private final LiteralMask mask;

    IteratorPlanReader(LiteralMask mask) {
        this.mask = mask;
    }

    private static Map<String, Reading> readings() {
        Map<String, Reading> readings = new HashMap<>();
        FLAGS.forEach((name, flag) -> readings.put(name, (reader, node, value) -> node.flag(flag, value.isTrue())));
        addTable(readings);
        addConditions(readings);
        addNumbers(readings);
        // These are read before the others, or outside of the plan.
        for (String name : List.of("operation", "access_type", "index_access_type", "query", "query_type", "heading")) {
            readings.put(name, (reader, node, value) -> {});
        }
        readings.put("inputs", IteratorPlanReader::inputs);
        readings.put("inputs_from_select_list", IteratorPlanReader::inputs);
        return Map.copyOf(readings);
    }

    private static void addTable(Map<String, Reading> readings) {
        readings.put("table_name", (reader, node, value) -> node.table = value.text());
        readings.put("alias", (reader, node, value) -> node.alias = value.text());
        readings.put("schema_name", (reader, node, value) -> node.schema = value.text());
        readings.put("index_name", (reader, node, value) -> node.index = value.text());
        readings.put("used_columns", (reader, node, value) -> node.usedColumns = MemberValues.names(value));
        readings.put("key_columns", (reader, node, value) -> node.keyParts = MemberValues.names(value));
        readings.put("partitions", (reader, node, value) -> node.partitions = MemberValues.names(value));
        readings.put("lookup_references", (reader, node, value) -> node.ref = MemberValues.names(value));
        readings.put("join_type", (reader, node, value) -> node.joinType = value.text());
        readings.put("join_algorithm", (reader, node, value) -> node.joinAlgorithm = value.text());
        readings.put("subquery", (reader, node, value) -> {});
        readings.put("subquery_location", (reader, node, value) -> node.location = location(value.text()));
        readings.put(
                "cacheable", (reader, node, value) -> node.flag(PlanFlag.UNCACHEABLE, "false".equals(value.text())));
        readings.put("tables", (reader, node, value) -> node.describe(String.join(", ", MemberValues.names(value))));
        readings.put("zero_rows_cause", (reader, node, value) -> node.describe(reader.mask.condition(value)));
    }

    private static void addConditions(Map<String, Reading> readings) {
        readings.put("condition", condition("attached"));
        readings.put("pushed_index_condition", condition("index"));
        readings.put("hash_condition", condition("hash"));
        readings.put("extra_condition", condition("join"));
        readings.put(
                "lookup_condition",
                (reader, node, value) -> node.condition("lookup", reader.mask.printedValues(value), false));
        readings.put("ranges", (reader, node, value) -> node.condition("range", reader.all(value, true), false));
        for (String name : List.of("sort_fields", "functions", "group_items")) {
            readings.put(name, (reader, node, value) -> node.describe(reader.all(value, false)));
        }
    }

    private static Reading condition(String kind) {
        return (reader, node, value) ->
                node.condition(kind, reader.all(value, false), LiteralMask.hasLeadingWildcard(value));
    }

    private String all(JsonValue value, boolean printedValues) {
        if (value instanceof JsonValue.JsonArray array) {
            return array.values().stream()
                    .map(item -> printedValues ? mask.printedValues(item) : mask.condition(item))
                    .distinct()
                    .collect(Collectors.joining(printedValues ? " or " : ", "));
        }
        return printedValues ? mask.printedValues(value) : mask.condition(value);
    }

    private static void addNumbers(Map<String, Reading> readings) {
        readings.put("estimated_rows", (reader, node, value) -> node.producedRows = value.number());
        readings.put("estimated_total_cost", (reader, node, value) -> node.cost = value.number());
        readings.put("actual_rows", (reader, node, value) -> node.actualRows = value.number());
        readings.put("actual_loops", (reader, node, value) -> node.loops = value.number());
        readings.put("actual_first_row_ms", (reader, node, value) -> node.firstRowMillis = value.number());
        readings.put("actual_last_row_ms", (reader, node, value) -> node.totalMillis = value.number());
        readings.put("limit", (reader, node, value) -> node.describe(value.text()));
    }

    /** Returns a subquery's location in the terms of version 1. */
    private static String location(String name) {
        return name.equals("projection") ? "select list" : name;
    }

    PlanNode node(JsonObject object) {
        String operation = object.get("operation").text();
        NodeBuilder node = new NodeBuilder(operation(object.get("access_type").text(), operation));
        heading(node, object.get("heading").text());
        for (Member member : object.members()) {
            Reading reading = READINGS.get(member.name());
            if (reading == null) {
                node.other(mask.name(member.name()), mask.value(member.value()));
            } else {
                reading.read(this, node, member.value());
            }
        }
        finish(node, object, operation);
        return node.build();
    }

    /** Returns whether the text is a value of {@code access_type} or {@code index_access_type}. */
    static boolean namesStep(String word) {
        return OPERATIONS.containsKey(word) || INDEX_ACCESS.containsKey(word);
    }

    private static Operation operation(String accessType, String operation) {
        Operation known = OPERATIONS.get(accessType);
        if (known != null) {
            return known;
        }
        return PHRASES.entrySet().stream()
                .filter(phrase -> operation.startsWith(phrase.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(Operation.OTHER);
    }

    /** Reads {@code Select #2 (subquery in condition; run only once)}, {@code Repeat until convergence}. */
    private void heading(NodeBuilder node, String heading) {
        if (heading.startsWith("Select #")) {
            int end = 8;
            while (end < heading.length() && Character.isDigit(heading.charAt(end))) {
                end++;
            }
            node.selectId = end > 8 && end < 17 ? Integer.parseInt(heading, 8, end, 10) : 0;
        } else if (!heading.equals("Hash")) {
            node.describe(mask.statement(heading));
        }
    }

    private void inputs(NodeBuilder node, JsonValue value) {
        for (JsonObject input : MemberValues.objects(value)) {
            boolean subquery = input.get("subquery").isTrue() || input.has("subquery_location");
            (subquery ? node.subqueries : node.inputs).add(node(input));
        }
    }

    private void finish(NodeBuilder node, JsonObject object, String operation) {
        switch (node.operation) {
            case TABLE -> table(node, object, operation);
            case INDEX_MERGE -> indexMerge(node, operation);
            case INSERT, REPLACE -> node.isTable = !node.table.isEmpty();
            case SORT -> node.flags.add(PlanFlag.FILESORT);
            case JOIN -> join(node);
            case MATERIALIZE -> materialize(node, object);
            case AGGREGATE -> node.flag(
                    PlanFlag.TEMPORARY_TABLE, object.get("access_type").text().equals("temp_table_aggregate"));
            case OTHER -> node.describe(withoutValues(operation));
            default -> {}
        }
        if (!Double.isNaN(node.loops) && node.loops > 0) {
            node.totalMillis *= node.loops;
        }
    }

    private static void table(NodeBuilder node, JsonObject object, String operation) {
        node.isTable = true;
        String index = object.get("index_access_type").text();
        node.serverType = index.isEmpty() ? object.get("access_type").text() : index;
        node.type = type(index, operation);
        node.flag(PlanFlag.INDEX_CONDITION_PUSHDOWN, object.has("pushed_index_condition"));
        node.flag(PlanFlag.INDEX_FOR_GROUP_BY, index.equals("group_index_skip_scan"));
        node.flag(PlanFlag.MULTI_RANGE_READ, operation.startsWith("Multi-range") || index.equals("multi_range_read"));
        node.flag(PlanFlag.BACKWARD_SCAN, operation.contains("(reverse)"));
        node.flag(
                PlanFlag.MATERIALIZED,
                node.inputs.stream().anyMatch(input -> input.operation() == Operation.MATERIALIZE));
        if (object.get("access_type").text().equals("materialized_table_function")) {
            node.flags.add(PlanFlag.TABLE_FUNCTION);
            node.table = TABLE_FUNCTION;
        }
    }

    private static AccessType type(String index, String operation) {
        if (operation.startsWith("Constant row")) {
            return AccessType.CONST;
        }
        if (index.isEmpty()) {
            return AccessType.ALL;
        }
        if (index.equals("index_lookup") && operation.startsWith("Single-row")) {
            return AccessType.EQ_REF;
        }
        if (index.equals("index_lookup") && operation.contains(" or NULL)")) {
            return AccessType.REF_OR_NULL;
        }
        return INDEX_ACCESS.getOrDefault(index, AccessType.UNKNOWN);
    }

    /** Reads an index merge; the merged scans read one table. */
    private static void indexMerge(NodeBuilder node, String operation) {
        node.isTable = true;
        node.type = AccessType.INDEX_MERGE;
        node.serverType = AccessType.INDEX_MERGE.label();
        for (PlanNode input : node.inputs) {
            if (input.isTable() && node.alias.isEmpty()) {
                node.schema = input.access().schema();
                node.table = input.access().table();
                node.alias = input.access().alias();
            }
        }
        String indexes = node.inputs.stream()
                .filter(PlanNode::isTable)
                .map(input -> input.access().index())
                .collect(Collectors.joining(","));
        String way =
                operation.startsWith("Intersect") ? "intersect" : operation.startsWith("Sort") ? "sort_union" : "union";
        node.index = way + '(' + indexes + ')';
    }

    /**
     * Orders the inputs of a join. The rows of an inner hash join's second input are read first, because they fill
     * the hash table. For outer joins and semijoins, the first input is the leading one.
     */
    private static void join(NodeBuilder node) {
        if (node.joinAlgorithm.equals("hash") && node.joinType.equals("inner join")) {
            Collections.reverse(node.inputs);
        }
    }

    private static void materialize(NodeBuilder node, JsonObject object) {
        if (object.get("union").isTrue()) {
            node.operation = Operation.UNION;
        } else if (object.get("intersect").isTrue()) {
            node.operation = Operation.INTERSECT;
        } else if (object.get("except").isTrue()) {
            node.operation = Operation.EXCEPT;
        } else if (object.get("temp_table").isTrue()) {
            node.operation = Operation.TEMPORARY_TABLE;
        }
        node.flags.add(PlanFlag.TEMPORARY_TABLE);
    }

    /** Returns the server's name of an operation, without what follows it. */
    private static String withoutValues(String operation) {
        int end = operation.length();
        for (String mark : List.of(":", "(", "'", "\"", " using ", " over ")) {
            int at = operation.indexOf(mark);
            end = at >= 0 ? Math.min(end, at) : end;
        }
        return operation.substring(0, end).strip();
    }
}
