package io.tailrace.detection.dataclass;

import java.util.List;
import java.util.Map;

/**
 * The file of data classes, compiled. Immutable.
 *
 * @param views what views read, by {@link QualifiedName#key}
 * @param routines what routines do, by the same
 * @param unresolved names of which nobody knows what they read, unless they are a view above
 */
public record DataClasses(
        List<DataClass> classes,
        Map<String, List<DataReference>> views,
        Map<String, StoredRoutine> routines,
        List<DataPattern> unresolved) {

    /** No classes: events are not enriched. */
    public static final DataClasses NONE = new DataClasses(List.of(), Map.of(), Map.of(), List.of());

    public DataClasses {
        classes = List.copyOf(classes);
        views = Map.copyOf(views);
        routines = Map.copyOf(routines);
        unresolved = List.copyOf(unresolved);
    }

    public boolean isEmpty() {
        return classes.isEmpty();
    }

    /** The names of all classes. */
    public List<String> names() {
        return classes.stream().map(DataClass::name).toList();
    }
}
