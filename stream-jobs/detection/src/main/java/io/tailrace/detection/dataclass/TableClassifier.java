package io.tailrace.detection.dataclass;

import io.tailrace.cache.BoundedCache;
import io.tailrace.detection.event.FieldValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Determines the classes of tables by their names. Not thread-safe. */
final class TableClassifier {

    private static final int MAX_CACHED = 20_000;

    /** One pattern of one class. */
    private record Part(String className, DataPattern pattern) {}

    private final List<Part> parts = new ArrayList<>();
    private final List<Part> exclusions = new ArrayList<>();
    private final PatternIndex index;
    private final PatternIndex excluded;
    private final PatternIndex unresolved;
    private final Map<String, List<DataReference>> views;
    /** Keys of views by their table part, for names without a database. */
    private final Map<String, List<String>> viewsByTable = new HashMap<>();

    private final Map<String, TableClasses> cache = new BoundedCache<>(MAX_CACHED);

    TableClassifier(DataClasses classes) {
        for (DataClass each : classes.classes()) {
            each.patterns().forEach(pattern -> parts.add(new Part(each.name(), pattern)));
            each.exclusions().forEach(pattern -> exclusions.add(new Part(each.name(), pattern)));
        }
        index = new PatternIndex(parts.stream().map(Part::pattern).toList());
        excluded = new PatternIndex(exclusions.stream().map(Part::pattern).toList());
        unresolved = new PatternIndex(classes.unresolved());
        views = classes.views();
        for (String view : views.keySet()) {
            String table = view.substring(view.indexOf('.') + 1);
            viewsByTable.computeIfAbsent(table, key -> new ArrayList<>()).add(view);
        }
    }

    /** @param name {@code table} or {@code database.table}, as in events */
    TableClasses of(String name) {
        TableClasses known = cache.get(name);
        if (known == null) {
            List<String> two = QualifiedName.parts(name, 2);
            known = two.size() == 2 ? find(two.get(0), two.get(1)) : find("", two.get(0));
            if (name.length() <= 2 * QualifiedName.MAX_LENGTH) {
                cache.put(name, known);
            }
        }
        return known;
    }

    private TableClasses find(String database, String table) {
        if (database.length() > QualifiedName.MAX_LENGTH || table.length() > QualifiedName.MAX_LENGTH) {
            return new TableClasses(Set.of(), List.of(), Set.of(), true);
        }
        FieldValue databaseName = FieldValue.of(database);
        FieldValue tableName = FieldValue.of(table);
        Set<String> whole = new HashSet<>();
        Map<String, List<DataPattern>> columns = columns(index, parts, databaseName, tableName, whole);
        Set<String> without = new HashSet<>();
        Map<String, List<DataPattern>> withoutColumns = columns(excluded, exclusions, databaseName, tableName, without);
        whole.removeAll(without);
        columns.keySet().removeAll(without);
        columns.keySet().removeAll(whole);
        List<ColumnClass> byColumn = new ArrayList<>();
        columns.forEach((name, patterns) -> byColumn.add(new ColumnClass(
                name,
                names(patterns),
                names(withoutColumns.getOrDefault(name, List.of())),
                patterns.stream().anyMatch(DataPattern::namesTables))));
        Set<String> resolved = new HashSet<>();
        boolean view = resolve(databaseName, tableName, resolved);
        boolean[] doubtful = new boolean[1];
        unresolved.find(databaseName, tableName, number -> doubtful[0] = true);
        return new TableClasses(whole, byColumn, resolved, doubtful[0] && !view);
    }

    private static List<NamePattern> names(List<DataPattern> patterns) {
        return patterns.stream().map(DataPattern::column).toList();
    }

    /**
     * Returns patterns of columns by their class; classes with a pattern for all columns are added to {@code whole}.
     */
    private Map<String, List<DataPattern>> columns(
            PatternIndex index, List<Part> parts, FieldValue database, FieldValue table, Set<String> whole) {
        Map<String, List<DataPattern>> columns = new LinkedHashMap<>();
        index.find(database, table, number -> {
            Part part = parts.get(number);
            if (index == excluded && !part.pattern().coversCertainly(database)) {
                return;
            }
            if (part.pattern().isOfColumns()) {
                columns.computeIfAbsent(part.className(), key -> new ArrayList<>())
                        .add(part.pattern());
            } else {
                whole.add(part.className());
            }
        });
        return columns;
    }

    /** Adds the classes of the tables that a view reads; returns whether the name is a view. */
    private boolean resolve(FieldValue database, FieldValue table, Set<String> resolved) {
        List<String> keys = database.text().isEmpty()
                ? viewsByTable.getOrDefault(table.folded(), List.of())
                : List.of(database.folded() + '.' + table.folded());
        boolean view = false;
        for (String key : keys) {
            List<DataReference> targets = views.get(key);
            view |= targets != null;
            if (targets != null) {
                targets.forEach(target -> resolved.addAll(of(target)));
            }
        }
        return view;
    }

    /** Returns the classes that a read or write of a target may touch. The reader has rejected cyclic views. */
    Set<String> of(DataReference target) {
        TableClasses table = find(target.database(), target.table());
        Set<String> touched = new HashSet<>(table.whole());
        touched.addAll(table.resolved());
        FieldValue column = FieldValue.of(target.column());
        for (ColumnClass each : table.columns()) {
            if (target.column().isEmpty() ? each.hasThem() : each.holds(column)) {
                touched.add(each.name());
            }
        }
        return touched;
    }
}
