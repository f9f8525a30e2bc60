package io.tailrace.slowlog;

import java.util.List;

/**
 * Derives flags from the handler counters of a statement. MySQL 8.0.14 and later write them with {@code
 * log_slow_extra}, but none of the flags that Percona Server and MariaDB write.
 */
final class PlanCounters {

    private boolean readInSequence;
    private boolean sorted;
    private boolean sortedOnDisk;
    private boolean tmpTable;
    private boolean tmpTableOnDisk;

    void clear() {
        readInSequence = false;
        sorted = false;
        sortedOnDisk = false;
        tmpTable = false;
        tmpTableOnDisk = false;
    }

    /** Records a counter that is above 0. */
    void take(HeaderField counter) {
        switch (counter) {
            case READ_RND_NEXT -> readInSequence = true;
            case SORTS -> sorted = true;
            case SORT_MERGE_PASSES -> sortedOnDisk = true;
            case TMP_TABLES -> tmpTable = true;
            case TMP_DISK_TABLES -> tmpTableOnDisk = true;
            default -> throw new IllegalArgumentException(counter + " is not a counter");
        }
    }

    boolean isEmpty() {
        return !(readInSequence || sorted || sortedOnDisk || tmpTable || tmpTableOnDisk);
    }

    /**
     * Adds the flags that follow. Sequential reads prove a full scan only if there was no temporary table that may
     * have been read in this way, and if the statement examined rows: DROP reads the dictionary.
     */
    void addFlags(long rowsExamined, List<String> flags) {
        add(readInSequence && !tmpTable && rowsExamined > 0, "full_scan", flags);
        add(tmpTable, "tmp_table", flags);
        add(tmpTableOnDisk, "tmp_table_on_disk", flags);
        add(sorted, "filesort", flags);
        add(sortedOnDisk, "filesort_on_disk", flags);
    }

    private static void add(boolean set, String flag, List<String> flags) {
        if (set && !flags.contains(flag)) {
            flags.add(flag);
        }
    }
}
