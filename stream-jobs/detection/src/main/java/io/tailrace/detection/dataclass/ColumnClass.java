package io.tailrace.detection.dataclass;

import io.tailrace.detection.event.FieldValue;
import java.util.List;

/**
 * A class to which only some columns of a table belong.
 *
 * @param hasThem the file names this table, so a statement that reads all of its columns touches the class
 */
record ColumnClass(String name, List<NamePattern> columns, List<NamePattern> exclusions, boolean hasThem) {

    ColumnClass {
        columns = List.copyOf(columns);
        exclusions = List.copyOf(exclusions);
    }

    boolean holds(FieldValue column) {
        return columns.stream().anyMatch(pattern -> pattern.matches(column))
                && exclusions.stream().noneMatch(pattern -> pattern.matches(column));
    }

    boolean holdsAny(List<FieldValue> names) {
        return names.stream().anyMatch(this::holds);
    }
}
