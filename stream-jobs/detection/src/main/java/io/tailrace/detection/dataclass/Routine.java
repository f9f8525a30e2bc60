package io.tailrace.detection.dataclass;

import java.util.List;

/** What a routine reads and writes when it is called. */
record Routine(List<DataTarget> reads, List<DataTarget> writes) {

    Routine {
        reads = List.copyOf(reads);
        writes = List.copyOf(writes);
    }
}
