package io.tailrace.audit.mariadb;

import io.tailrace.lexer.ByteText;

/** The operations of MariaDB's server_audit plugin, 1.1 to 1.5. */
enum MariaDbOperation {
    CONNECT("connection"),
    DISCONNECT("connection"),
    FAILED_CONNECT("connection"),
    CHANGEUSER("connection"),
    QUERY("query"),
    QUERY_DDL("query"),
    QUERY_DML("query"),
    QUERY_DML_NO_SELECT("query"),
    QUERY_DCL("query"),
    PROXY_CONNECT("connection"),
    READ("table"),
    WRITE("table"),
    CREATE("table"),
    ALTER("table"),
    RENAME("table"),
    DROP("table");

    private final String eventClass;
    private final byte[] spelling;

    MariaDbOperation(String eventClass) {
        this.eventClass = eventClass;
        this.spelling = ByteText.ascii(name());
    }

    String eventClass() {
        return eventClass;
    }

    /** Returns whether the object field is a quoted statement. */
    boolean hasStatement() {
        return "query".equals(eventClass);
    }

    /** Returns whether the object field is empty. */
    boolean isWithoutObject() {
        return "connection".equals(eventClass) && this != PROXY_CONNECT;
    }

    private static final MariaDbOperation[] ALL = values();

    /** Returns the operation in the range, or null. */
    static MariaDbOperation of(byte[] bytes, int from, int to) {
        for (MariaDbOperation operation : ALL) {
            if (operation.spelling.length == to - from && ByteText.startsWith(bytes, from, to, operation.spelling)) {
                return operation;
            }
        }
        return null;
    }
}
