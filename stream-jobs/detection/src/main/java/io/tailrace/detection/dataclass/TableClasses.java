package io.tailrace.detection.dataclass;

import java.util.List;
import java.util.Set;

/**
 * What the file says of one table.
 *
 * @param whole classes to which all of it belongs
 * @param columns classes to which columns of it belong
 * @param resolved classes of what it reads, where it is a view
 * @param unresolved it may read other tables, and nobody knows which
 */
record TableClasses(Set<String> whole, List<ColumnClass> columns, Set<String> resolved, boolean unresolved) {

    TableClasses {
        whole = Set.copyOf(whole);
        columns = List.copyOf(columns);
        resolved = Set.copyOf(resolved);
    }
}
