package io.tailrace.detection.dataclass;

import java.util.List;
import java.util.Map;

/**
 * The compiled file of data classes. Immutable.
 *
 * @param views references that views read, by {@link QualifiedName#key}
 * @param routines references that routines read and write, by the same key
 * @param unresolved names whose references are unknown, unless they are a view above
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

    /** Returns the names of all classes. */
    public List<String> names() {
        return classes.stream().map(DataClass::name).toList();
    }
}
