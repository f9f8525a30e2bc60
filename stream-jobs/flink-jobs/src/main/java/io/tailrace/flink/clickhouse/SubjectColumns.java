package io.tailrace.flink.clickhouse;

import io.tailrace.pseudonym.SubjectKind;
import java.util.Map;

/**
 * The columns whose names are replaced by pseudonyms, by table. docs/ERASURE.md lists them, and those that keep names.
 * {@code tailrace.erasure.columns} in Python has the same list.
 */
final class SubjectColumns {

    /** A key of the column {@code attributes} of query_events. */
    static final String PRIVILEGED_USER = "priv_user";

    static final String ATTRIBUTES = "attributes";

    private static final Map<String, Map<String, SubjectKind>> COLUMNS = Map.of(
            "query_events",
            Map.of("user", SubjectKind.USER, "host", SubjectKind.CLIENT, "ip", SubjectKind.CLIENT),
            "audit_events",
            Map.of(
                    "user",
                    SubjectKind.USER,
                    PRIVILEGED_USER,
                    SubjectKind.USER,
                    "proxy_user",
                    SubjectKind.USER,
                    "os_user",
                    SubjectKind.USER,
                    "host",
                    SubjectKind.CLIENT,
                    "ip",
                    SubjectKind.CLIENT),
            "data_access",
            Map.of("user", SubjectKind.USER, "host", SubjectKind.CLIENT, "src_ip", SubjectKind.CLIENT));

    private SubjectColumns() {}

    /**
     * Returns the kinds of names by column; empty if the table keeps names.
     *
     * @param table name with its database
     */
    static Map<String, SubjectKind> of(String table) {
        return COLUMNS.getOrDefault(table.substring(table.indexOf('.') + 1), Map.of());
    }
}
