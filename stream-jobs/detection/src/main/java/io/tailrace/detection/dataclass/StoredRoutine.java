package io.tailrace.detection.dataclass;

import java.util.List;

/** What a routine reads and writes when it is called. */
record StoredRoutine(List<DataReference> reads, List<DataReference> writes) {

    StoredRoutine {
        reads = List.copyOf(reads);
        writes = List.copyOf(writes);
    }
}
