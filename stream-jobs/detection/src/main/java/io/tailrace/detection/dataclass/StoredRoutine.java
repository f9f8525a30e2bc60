package io.tailrace.detection.dataclass;

import java.util.List;

/** The tables and columns that a call of a routine reads and writes. */
record StoredRoutine(List<DataReference> reads, List<DataReference> writes) {

    StoredRoutine {
        reads = List.copyOf(reads);
        writes = List.copyOf(writes);
    }
}
