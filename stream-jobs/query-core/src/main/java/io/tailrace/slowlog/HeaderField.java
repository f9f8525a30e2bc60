package io.tailrace.slowlog;

import io.tailrace.lexer.WordTable;
import java.util.HashMap;
import java.util.Map;

/** The fields of an entry's header that have a separate field in an event. */
enum HeaderField {
    QUERY_TIME,
    LOCK_TIME,
    ROWS_SENT,
    ROWS_EXAMINED,
    ROWS_AFFECTED,
    BYTES_SENT,
    ERROR_CODE,
    THREAD_ID,
    SCHEMA,
    /** Percona Server 8.0 with {@code log_slow_verbosity=query_info}. */
    QUERY_TABLES,
    /** The kind of sampling of the log. */
    RATE_TYPE,
    RATE_LIMIT,
    FULL_SCAN,
    FULL_JOIN,
    TMP_TABLE,
    TMP_TABLE_ON_DISK,
    FILESORT,
    FILESORT_ON_DISK,
    QUERY_CACHE_HIT,
    /** Counters of MySQL's {@code log_slow_extra}, from which {@link PlanCounters} derives flags. */
    READ_RND_NEXT,
    SORTS,
    SORT_MERGE_PASSES,
    TMP_TABLES,
    TMP_DISK_TABLES;

    private static final WordTable<HeaderField> BY_KEY = WordTable.of(keys());

    private static Map<String, HeaderField> keys() {
        Map<String, HeaderField> keys = new HashMap<>();
        keys.put("Query_time", QUERY_TIME);
        keys.put("Lock_time", LOCK_TIME);
        keys.put("Rows_sent", ROWS_SENT);
        keys.put("Rows_examined", ROWS_EXAMINED);
        keys.put("Rows_affected", ROWS_AFFECTED);
        keys.put("Bytes_sent", BYTES_SENT);
        keys.put("Last_errno", ERROR_CODE);
        keys.put("Errno", ERROR_CODE);
        keys.put("Thread_id", THREAD_ID);
        keys.put("Id", THREAD_ID);
        keys.put("Schema", SCHEMA);
        keys.put("Query_tables", QUERY_TABLES);
        keys.put("Log_slow_rate_type", RATE_TYPE);
        keys.put("Log_slow_rate_limit", RATE_LIMIT);
        keys.put("Full_scan", FULL_SCAN);
        keys.put("Full_join", FULL_JOIN);
        keys.put("Tmp_table", TMP_TABLE);
        keys.put("Tmp_table_on_disk", TMP_TABLE_ON_DISK);
        keys.put("Filesort", FILESORT);
        keys.put("Filesort_on_disk", FILESORT_ON_DISK);
        keys.put("QC_Hit", QUERY_CACHE_HIT);
        keys.put("QC_hit", QUERY_CACHE_HIT);
        keys.put("Read_rnd_next", READ_RND_NEXT);
        keys.put("Sort_range_count", SORTS);
        keys.put("Sort_scan_count", SORTS);
        keys.put("Sort_merge_passes", SORT_MERGE_PASSES);
        keys.put("Created_tmp_tables", TMP_TABLES);
        keys.put("Created_tmp_disk_tables", TMP_DISK_TABLES);
        return keys;
    }

    /** Returns whether its value is a name, which may contain blanks. */
    boolean isName() {
        return this == SCHEMA || this == QUERY_TABLES;
    }

    /** Returns the field of a key, without its colon; null for any other key. */
    static HeaderField of(byte[] bytes, int from, int to) {
        return BY_KEY.get(bytes, from, to);
    }
}
