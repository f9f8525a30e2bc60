package io.tailrace.plan;

/** The server and the format of a plan's document. */
public enum PlanFormat {
    /** MySQL and Percona Server, {@code explain_json_format_version=1}: 5.6 to 9. */
    MYSQL_1("mysql-1"),
    /** MySQL, {@code explain_json_format_version=2}: from 8.3 on; EXPLAIN ANALYZE FORMAT=JSON. */
    MYSQL_2("mysql-2"),
    /** MariaDB, EXPLAIN FORMAT=JSON: from 10.1 on. */
    MARIADB("mariadb"),
    /** MariaDB, ANALYZE FORMAT=JSON: from 10.1 on. */
    MARIADB_ANALYZE("mariadb-analyze"),
    /** Tab-separated rows: the client's output, and {@code # explain:} lines of MariaDB's slow log (from 10.0 on). */
    ROWS("rows");

    private final String label;

    PlanFormat(String label) {
        this.label = label;
    }

    public String label() {
        return label;
    }
}
