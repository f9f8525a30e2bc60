package io.tailrace.detection.dataclass;

import java.util.List;
import java.util.Set;

/**
 * The data classes of one table.
 *
 * @param whole classes to which all of its columns belong
 * @param columns classes to which some of its columns belong
 * @param resolved classes of the tables that it reads, if it is a view
 * @param unresolved it may read other tables, which are unknown
 */
record TableClasses(Set<String> whole, List<ColumnClass> columns, Set<String> resolved, boolean unresolved) {

    TableClasses {
        whole = Set.copyOf(whole);
        columns = List.copyOf(columns);
        resolved = Set.copyOf(resolved);
    }
}
