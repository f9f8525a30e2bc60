package io.tailrace.detection.dataclass;

import java.util.List;

/** A data class: the patterns that belong to it, and the exclusions among them. */
record DataClass(String name, List<DataPattern> patterns, List<DataPattern> exclusions) {

    DataClass {
        patterns = List.copyOf(patterns);
        exclusions = List.copyOf(exclusions);
    }
}
