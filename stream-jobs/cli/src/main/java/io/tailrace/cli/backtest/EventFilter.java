package io.tailrace.cli.backtest;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.stored.PartialMatch;
import io.tailrace.detection.stored.RuleFields;
import io.tailrace.detection.stored.StoredEventDecoder;
import io.tailrace.detection.stored.StoredTable;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/**
 * Finds events that no rule can match, by their values in a few columns, so that they are not read.
 *
 * <p>The server lists the distinct values of these columns. Each combination is decoded as an event, and every condition
 * is evaluated with all other fields unknown. Only combinations for which all conditions are false are left out: the
 * others, and those that appear later, are read. Rules over single events and correlations see the same matches,
 * because an event without a match changes no state. Detectors see every event and must not be filtered.
 */
final class EventFilter {

    /** Columns with few distinct values, on which many rules depend. */
    private static final Set<String> COLUMNS = Set.of(
            "source",
            "event_class",
            "command",
            "command_class",
            "event_name",
            "verb",
            "kind",
            "level",
            "subsystem",
            "code",
            "format",
            "connection_type",
            "database");

    private static final List<String> STATEMENT = List.of("query_id", "rule_set", "verb");
    /** Above this number of combinations, the filter would cost more than it saves. */
    private static final int MAX_DISTINCT = 50_000;
    /** Maximum number of values in the condition. */
    private static final int MAX_VALUES = 20_000;

    private static final String NULL = "NULL";

    private final EventStore store;
    private final List<SigmaRule> rules;
    private final Period period;

    EventFilter(EventStore store, List<SigmaRule> rules, Period period) {
        this.store = store;
        this.rules = rules;
        this.period = period;
    }

    /** Returns the query of the events that a rule may match. */
    EventQuery narrowed(EventQuery query) throws IOException {
        List<String> conditions = new ArrayList<>();
        String byValues = without(query, columnsOf(query.table(), COLUMNS), Statements.NONE::of);
        if (!byValues.isEmpty()) {
            conditions.add(byValues);
        }
        EventQuery narrowed = query.filtered(byValues);
        if (query.table().hasStatements() && usesStatements()) {
            Statements texts = Statements.read(store.start(narrowed.statements(period, MAX_DISTINCT)));
            String byStatements = without(narrowed, STATEMENT, texts::of);
            if (!byStatements.isEmpty()) {
                conditions.add(byStatements);
            }
        }
        return query.filtered(String.join(" AND ", conditions));
    }

    private boolean usesStatements() {
        return rules.stream()
                .anyMatch(rule -> RuleFields.of(rule.condition()).names().contains("statement"));
    }

    private List<String> columnsOf(StoredTable table, Set<String> candidates) {
        Set<String> used = new TreeSet<>();
        rules.forEach(rule ->
                used.addAll(table.columns(RuleFields.of(rule.condition()).names())));
        return table.columns().stream()
                .filter(column -> column.equals("source") || used.contains(column))
                .filter(candidates::contains)
                .toList();
    }

    /** Returns a condition that excludes the values that no rule can match; empty if there are none, or too many. */
    private String without(EventQuery query, List<String> columns, BiFunction<Long, String, String> statements)
            throws IOException {
        EventStore.Result result = EventStore.await(store.start(query.distinct(period, columns, MAX_DISTINCT)));
        Map<SigmaRule, PartialMatch> partial = partial(query.table(), columns);
        List<String> keys = columns == STATEMENT ? List.of("query_id") : columns;
        Set<String> excluded = new LinkedHashSet<>();
        Set<String> kept = new HashSet<>();
        try (InputStream body = result.body()) {
            StoredEventDecoder events = new StoredEventDecoder(query.table(), columns, body, statements);
            long missing = 0;
            for (DetectionEvent event = events.next(); event != null; event = events.next()) {
                String values = literals(events, keys);
                boolean isKnown = events.statementsMissing() == missing;
                boolean isKept = !isKnown || mayMatch(partial, event, columns.contains("source"));
                (isKept ? kept : excluded).add(values);
                missing = events.statementsMissing();
            }
            EventStore.requireRows(result.rows(), events.rows());
        }
        excluded.removeAll(kept);
        boolean keepsNull = !excluded.remove(NULL);
        boolean isUseful =
                excluded.size() <= MAX_VALUES && result.rows() < MAX_DISTINCT && !(excluded.isEmpty() && keepsNull);
        return isUseful ? condition(keys, excluded, keepsNull) : "";
    }

    private static String condition(List<String> columns, Set<String> excluded, boolean keepsNull) {
        String names = '(' + String.join(", ", columns) + ')';
        String condition =
                excluded.isEmpty() ? names + " IS NOT NULL" : names + " NOT IN (" + String.join(", ", excluded) + ')';
        return "ifNull(" + condition + ", " + (keepsNull ? 1 : 0) + ')';
    }

    /** Returns the values of columns as SQL. Of them, only the id of a statement can be null, which is a single column. */
    private static String literals(StoredEventDecoder row, List<String> columns) {
        List<String> literals = new ArrayList<>();
        for (String column : columns) {
            Object value = row.value(column);
            if (value == null) {
                return NULL;
            }
            literals.add(value instanceof Long id ? Long.toUnsignedString(id) : EventStore.quoted(value.toString()));
        }
        return columns.size() == 1 ? literals.get(0) : '(' + String.join(", ", literals) + ')';
    }

    private Map<SigmaRule, PartialMatch> partial(StoredTable table, List<String> columns) {
        Map<SigmaRule, PartialMatch> partial = new LinkedHashMap<>();
        for (SigmaRule rule : rules) {
            Set<String> known = RuleFields.of(rule.condition()).names().stream()
                    .filter(field -> table.isDetermined(field, columns))
                    .collect(Collectors.toSet());
            partial.put(rule, new PartialMatch(known));
        }
        return partial;
    }

    private static boolean mayMatch(Map<SigmaRule, PartialMatch> rules, DetectionEvent event, boolean hasSource) {
        return rules.entrySet().stream()
                .anyMatch(rule -> (!hasSource || rule.getKey().source().covers(event.source()))
                        && rule.getValue().mayMatch(rule.getKey().condition(), event));
    }
}
