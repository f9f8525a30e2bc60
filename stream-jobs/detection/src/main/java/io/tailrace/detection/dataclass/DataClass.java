package io.tailrace.detection.dataclass;

import java.util.List;

/** A class of data: what belongs to it, and what of that does not. */
record DataClass(String name, List<DataPattern> patterns, List<DataPattern> exclusions) {

    DataClass {
        patterns = List.copyOf(patterns);
        exclusions = List.copyOf(exclusions);
    }
}
