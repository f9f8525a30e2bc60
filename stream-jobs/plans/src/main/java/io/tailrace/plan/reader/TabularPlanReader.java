package io.tailrace.plan.reader;

import io.tailrace.plan.Operation;
import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanFlag;
import io.tailrace.plan.PlanFormat;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonString;
import io.tailrace.plan.json.Repairs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the rows of EXPLAIN: one row per table, in join order. MariaDB writes them into its slow log ({@code
 * log_slow_verbosity=explain}, from 10.0 on), and clients print them. Not thread-safe.
 */
public final class TabularPlanReader {

    /** Columns of rows without a header: MySQL from 5.7 on, and MariaDB. */
    private static final String MYSQL_COLUMNS =
            "id\tselect_type\ttable\tpartitions\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tfiltered\tExtra";

    private static final String MARIADB_COLUMNS =
            "id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tExtra";

    private static final String NULL = "NULL";
    /** {@code <derived2>}, {@code <subquery3>}: the rows of another SELECT. */
    private static final Pattern OTHER_SELECT = Pattern.compile("<(?:derived|subquery)(\\d{1,6})>");
    /** {@code <union1,2>}: the rows of several SELECTs. */
    private static final Pattern COMBINED = Pattern.compile("<(union|intersect|except|unit)([\\d,.]+)>");

    private final LiteralMask mask = new LiteralMask();
    private final Map<Integer, List<PlanNode>> tables = new LinkedHashMap<>();
    private final Map<Integer, String> kinds = new LinkedHashMap<>();
    private final Map<Integer, List<PlanFlag>> efforts = new LinkedHashMap<>();
    private final List<Integer> done = new ArrayList<>();
    private NodeBuilder combined;
    private List<Integer> combinedSelects = List.of();

    /** Returns whether a line names the columns. */
    public static boolean isHeader(String line) {
        return line.startsWith("id\tselect_type\t");
    }

    /** Returns whether a line is a row without a header. */
    public static boolean isRow(String line) {
        String[] cells = line.split("\t", 3);
        return cells.length == 3
                && (cells[0].equals(NULL) || cells[0].matches("\\d{1,6}"))
                && cells[1].matches("[A-Z][A-Z ]{2,40}");
    }

    /**
     * Returns the plan of the rows.
     *
     * @param lines tab-separated, without line ends; the first may name the columns. The lines of MariaDB's slow log
     *     are a QueryEvent's {@code explain}
     */
    public Optional<Plan> read(List<String> lines) {
        if (lines.isEmpty()) {
            return Optional.empty();
        }
        clear();
        boolean named = isHeader(lines.get(0));
        int cells = lines.get(0).split("\t", -1).length;
        String columns = named ? lines.get(0) : cells >= 12 ? MYSQL_COLUMNS : MARIADB_COLUMNS;
        List<String> names = List.of(columns.split("\t", -1));
        lines.stream().skip(named ? 1 : 0).forEach(line -> row(names, line.split("\t", -1)));
        if (tables.isEmpty() && combined == null) {
            return Optional.empty();
        }
        return Optional.of(new Plan(PlanFormat.ROWS, "", "", Double.NaN, root(), Map.of(), new Repairs(), false));
    }

    private void clear() {
        tables.clear();
        kinds.clear();
        efforts.clear();
        done.clear();
        combined = null;
        combinedSelects = List.of();
    }

    private void row(List<String> columns, String[] cells) {
        Map<String, String> row = new LinkedHashMap<>();
        for (int i = 0; i < Math.min(columns.size(), cells.length); i++) {
            String cell = cells[i].strip();
            row.put(columns.get(i), cell.equals(NULL) ? "" : cell);
        }
        String kind = row.getOrDefault("select_type", "");
        Matcher union = COMBINED.matcher(row.getOrDefault("table", ""));
        if (kind.endsWith(" RESULT") && union.matches()) {
            combined = new NodeBuilder(combination(kind));
            combinedSelects = numbers(union.group(2));
            cells(combined, row);
            return;
        }
        int select = number(row.getOrDefault("id", ""));
        kinds.putIfAbsent(select, kind);
        NodeBuilder node = new NodeBuilder(Operation.TABLE);
        cells(node, row);
        node.operation = node.isTable ? Operation.TABLE : Operation.CONSTANT_ROWS;
        List<PlanFlag> effort = efforts.computeIfAbsent(select, key -> new ArrayList<>());
        for (PlanFlag flag : List.of(PlanFlag.FILESORT, PlanFlag.TEMPORARY_TABLE)) {
            if (node.flags.remove(flag)) {
                effort.add(flag);
            }
        }
        node.flag(PlanFlag.INSERTED, kind.equals("INSERT"));
        node.flag(PlanFlag.REPLACED, kind.equals("REPLACE"));
        node.flag(PlanFlag.UPDATED, kind.equals("UPDATE"));
        node.flag(PlanFlag.DELETED, kind.equals("DELETE"));
        tables.computeIfAbsent(select, key -> new ArrayList<>()).add(node.build());
    }

    /**
     * Returns the operation that combines SELECTs; MariaDB writes {@code UNIT RESULT} for a mix of them (from 10.3
     * on).
     */
    private static Operation combination(String kind) {
        return switch (kind) {
            case "INTERSECT RESULT" -> Operation.INTERSECT;
            case "EXCEPT RESULT" -> Operation.EXCEPT;
            default -> Operation.UNION;
        };
    }

    private void cells(NodeBuilder node, Map<String, String> row) {
        row.forEach((column, cell) -> {
            if (!cell.isEmpty()) {
                cell(node, column, cell);
            }
        });
    }

    private void cell(NodeBuilder node, String column, String cell) {
        switch (column) {
            case "id", "select_type" -> {}
            case "table" -> {
                node.isTable = true;
                node.alias = cell;
            }
            case "type" -> node.access(cell);
            case "possible_keys" -> node.possibleIndexes = names(cell);
            case "key" -> node.index = cell;
            case "key_len" -> node.keyLength = cell;
            case "ref" -> node.ref = names(cell);
            case "partitions" -> node.partitions = names(cell);
            case "rows" -> node.examinedRows = text(cell).number();
            case "r_rows" -> node.actualRows = text(cell).number();
            case "filtered" -> node.filteredPercent = text(cell).number();
            case "r_filtered" -> node.actualFilteredPercent = text(cell).number();
            case "Extra" -> Arrays.stream(cell.split("; ?")).forEach(words -> extra(node, words));
            default -> node.other(column, mask.value(text(cell)));
        }
    }

    private static JsonValue text(String cell) {
        return new JsonString(cell, cell);
    }

    /** Reads words of the column Extra (sql/opt_explain_format.cc, sql/sql_explain.cc). */
    private void extra(NodeBuilder node, String words) {
        switch (words) {
            case "" -> {}
            case "Using where" -> node.flags.add(PlanFlag.FILTERED);
            case "Using index" -> node.flags.add(PlanFlag.INDEX_ONLY);
            case "Using index condition", "Using index condition(BKA)" -> node.flags.add(
                    PlanFlag.INDEX_CONDITION_PUSHDOWN);
            case "Using filesort" -> node.flags.add(PlanFlag.FILESORT);
            case "Using temporary" -> node.flags.add(PlanFlag.TEMPORARY_TABLE);
            case "Using MRR" -> node.flags.add(PlanFlag.MULTI_RANGE_READ);
            case "Using index for group-by" -> node.flags.add(PlanFlag.INDEX_FOR_GROUP_BY);
            case "Backward index scan" -> node.flags.add(PlanFlag.BACKWARD_SCAN);
            case "Distinct" -> node.flags.add(PlanFlag.DISTINCT);
            case "Not exists" -> node.flags.add(PlanFlag.NOT_EXISTS);
            case "Recursive" -> node.flags.add(PlanFlag.RECURSIVE);
            case "LooseScan" -> node.flags.add(PlanFlag.LOOSE_SCAN);
            case "Full scan on NULL key" -> node.flags.add(PlanFlag.FULL_SCAN_ON_NULL_KEY);
            case "Using rowid filter" -> node.flags.add(PlanFlag.ROWID_FILTER);
            default -> longerExtra(node, words);
        }
    }

    private void longerExtra(NodeBuilder node, String words) {
        if (words.startsWith("Using join buffer")) {
            node.flags.add(PlanFlag.JOIN_BUFFER);
            node.joinAlgorithm = inBrackets(words);
        } else if (words.startsWith("Using union(")
                || words.startsWith("Using intersect(")
                || words.startsWith("Using sort_union(")) {
            node.index = words.substring("Using ".length());
        } else if (words.startsWith("FirstMatch")) {
            node.flags.add(PlanFlag.FIRST_MATCH);
        } else if (words.startsWith("Range checked for each record")) {
            node.flags.add(PlanFlag.RANGE_CHECKED_FOR_EACH_RECORD);
        } else if (words.startsWith("Table function")) {
            node.flags.add(PlanFlag.TABLE_FUNCTION);
        } else if (words.startsWith("Rematerialize")) {
            node.flags.add(PlanFlag.REMATERIALIZE);
        } else {
            node.describe(mask.condition(text(words)));
        }
    }

    private static String inBrackets(String words) {
        int open = words.indexOf('(');
        int close = words.lastIndexOf(')');
        return open >= 0 && close > open ? words.substring(open + 1, close) : "";
    }

    private static List<String> names(String cell) {
        return List.of(cell.split(","));
    }

    private static List<Integer> numbers(String text) {
        return Arrays.stream(text.split("[,.]+")).map(TabularPlanReader::number).toList();
    }

    private static int number(String text) {
        return text.matches("\\d{1,6}") ? Integer.parseInt(text) : 0;
    }

    private PlanNode root() {
        int first = tables.isEmpty() ? 0 : tables.keySet().iterator().next();
        NodeBuilder root;
        if (combined != null && combinedSelects.contains(first)) {
            root = combination();
        } else {
            root = select(first);
        }
        // SELECTs to which no table refers are subqueries of an expression.
        for (int select : List.copyOf(tables.keySet())) {
            if (!done.contains(select)) {
                NodeBuilder subquery = select(select);
                subquery.location = "expression";
                root.subqueries.add(subquery.build());
            }
        }
        return root.build();
    }

    private NodeBuilder combination() {
        combined.isTable = true;
        for (int select : combinedSelects) {
            if (tables.containsKey(select) && !done.contains(select)) {
                combined.inputs.add(select(select).build());
            }
        }
        return combined;
    }

    /** Creates the node of one SELECT with its sort and its temporary table, as far as the rows show them. */
    private NodeBuilder select(int number) {
        done.add(number);
        NodeBuilder block = new NodeBuilder(Operation.QUERY_BLOCK);
        block.selectId = number;
        String kind = kinds.getOrDefault(number, "");
        block.flag(PlanFlag.DEPENDENT, kind.startsWith("DEPENDENT"));
        block.flag(PlanFlag.UNCACHEABLE, kind.startsWith("UNCACHEABLE"));
        List<PlanNode> rows = tables.getOrDefault(number, List.of()).stream()
                .map(this::withSource)
                .toList();
        PlanNode step = rows.size() == 1 ? rows.get(0) : node(Operation.JOIN, rows);
        if (efforts.getOrDefault(number, List.of()).contains(PlanFlag.TEMPORARY_TABLE)) {
            step = node(Operation.TEMPORARY_TABLE, List.of(step));
        }
        if (efforts.getOrDefault(number, List.of()).contains(PlanFlag.FILESORT)) {
            step = node(Operation.SORT, List.of(step));
        }
        block.inputs.add(step);
        return block;
    }

    private static PlanNode node(Operation operation, List<PlanNode> inputs) {
        NodeBuilder node = new NodeBuilder(operation);
        node.flag(PlanFlag.FILESORT, operation == Operation.SORT);
        node.flag(PlanFlag.TEMPORARY_TABLE, operation == Operation.TEMPORARY_TABLE);
        node.inputs.addAll(inputs);
        return node.build();
    }

    /** Adds to a derived table the SELECT that fills it. */
    private PlanNode withSource(PlanNode table) {
        Matcher source = table.isTable() ? OTHER_SELECT.matcher(table.access().alias()) : null;
        int select = source != null && source.matches() ? number(source.group(1)) : 0;
        if (!tables.containsKey(select) || done.contains(select)) {
            return table;
        }
        boolean isCombined = combined != null && combinedSelects.contains(select);
        PlanNode rows = (isCombined ? combination() : select(select)).build();
        return table.withInput(node(Operation.MATERIALIZE, List.of(rows)));
    }
}
