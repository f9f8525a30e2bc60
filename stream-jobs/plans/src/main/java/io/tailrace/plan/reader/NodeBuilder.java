package io.tailrace.plan.reader;

import io.tailrace.plan.AccessType;
import io.tailrace.plan.Condition;
import io.tailrace.plan.Estimates;
import io.tailrace.plan.JoinMethod;
import io.tailrace.plan.Measurements;
import io.tailrace.plan.Operation;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.TableAccess;
import io.tailrace.plan.json.JsonValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Collects the fields of a node while its document is read. */
final class NodeBuilder {

    Operation operation;
    String detail = "";
    int selectId;
    String location = "";

    boolean isTable;
    String schema = "";
    String table = "";
    String alias = "";
    AccessType type = AccessType.UNKNOWN;
    String serverType = "";
    String index = "";
    List<String> possibleIndexes = List.of();
    List<String> keyParts = List.of();
    String keyLength = "";
    List<String> ref = List.of();
    List<String> partitions = List.of();
    List<String> usedColumns = List.of();

    String joinType = "";
    String joinAlgorithm = "";
    String joinBuffer = "";

    double examinedRows = Double.NaN;
    double producedRows = Double.NaN;
    double filteredPercent = Double.NaN;
    double cost = Double.NaN;
    double expectedLoops = Double.NaN;

    double actualRows = Double.NaN;
    double loops = Double.NaN;
    double firstRowMillis = Double.NaN;
    double totalMillis = Double.NaN;
    double actualFilteredPercent = Double.NaN;

    final Set<PlanFlag> flags = EnumSet.noneOf(PlanFlag.class);
    final List<Condition> conditions = new ArrayList<>(2);
    final List<PlanNode> inputs = new ArrayList<>(2);
    final List<PlanNode> subqueries = new ArrayList<>(0);
    final Map<String, JsonValue> others = new LinkedHashMap<>();

    NodeBuilder(Operation operation) {
        this.operation = operation;
    }

    NodeBuilder flag(PlanFlag flag, boolean holds) {
        if (holds) {
            flags.add(flag);
        }
        return this;
    }

    /** Appends words to the description of the node. */
    void describe(String words) {
        if (!words.isEmpty()) {
            detail = detail.isEmpty() ? words : detail + "; " + words;
        }
    }

    void condition(String kind, String text, boolean leadingWildcard) {
        if (!text.isEmpty()) {
            conditions.add(new Condition(kind, text, leadingWildcard));
        }
    }

    /** Stores a member that has no field; further members with the same name get a number. */
    void other(String name, JsonValue value) {
        String key = name;
        for (int number = 2; others.containsKey(key); number++) {
            key = name + '#' + number;
        }
        others.put(key, value);
    }

    void access(String name) {
        serverType = name;
        type = AccessType.named(name);
        if (name.startsWith("hash_")) {
            flags.add(PlanFlag.JOIN_BUFFER);
        }
    }

    PlanNode build() {
        boolean joined = !joinType.isEmpty() || !joinAlgorithm.isEmpty() || !joinBuffer.isEmpty();
        return new PlanNode(
                operation,
                detail,
                selectId,
                location,
                isTable ? tableAccess() : null,
                joined ? new JoinMethod(joinType, joinAlgorithm, joinBuffer) : null,
                List.copyOf(conditions),
                Collections.unmodifiableSet(flags),
                new Estimates(examinedRows, producedRows, filteredPercent, cost, expectedLoops),
                new Measurements(actualRows, loops, firstRowMillis, totalMillis, actualFilteredPercent),
                List.copyOf(inputs),
                List.copyOf(subqueries),
                Collections.unmodifiableMap(others));
    }

    private TableAccess tableAccess() {
        return new TableAccess(
                schema,
                table.isEmpty() ? alias : table,
                alias.isEmpty() ? table : alias,
                type,
                serverType,
                index,
                possibleIndexes,
                keyParts,
                keyLength,
                ref,
                partitions,
                usedColumns);
    }
}
