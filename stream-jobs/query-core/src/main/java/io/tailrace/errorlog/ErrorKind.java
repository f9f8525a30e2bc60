package io.tailrace.errorlog;

import java.util.Locale;

/** The subject of a message, from the point of view of an operator. The names are stored, so they never change. */
enum ErrorKind {
    ACCESS_DENIED,
    CONNECTION_ABORTED,
    TOO_MANY_CONNECTIONS,
    /** Replication has stopped, or will stop: 1236, 1062, 1032, an event that is too large. */
    REPLICATION_ERROR,
    /** Replication was started, stopped or connected. */
    REPLICATION_STATE,
    ERRANT_GTID,
    /** Another source, primary or read-only state. */
    ROLE_CHANGE,
    CRASH,
    DEADLOCK,
    FOREIGN_KEY_ERROR,
    INNODB_MONITOR,
    INNODB_PRESSURE,
    CORRUPTION,
    DISK_FULL,
    OUT_OF_MEMORY,
    SST,
    IST,
    QUORUM_LOST,
    CLUSTER_VIEW,
    CLUSTER_STATE,
    /** A transaction was rolled back in favor of one of another node. */
    CLUSTER_CONFLICT,
    /** Nodes contain different data. */
    CLUSTER_INCONSISTENT,
    FLOW_CONTROL,
    PLUGIN_CHANGE,
    /** Start, readiness, shutdown and crash recovery of the server. */
    SERVER_STATE,
    BACKUP,
    OTHER;

    private final String text = name().toLowerCase(Locale.ROOT);

    /** Returns the stored form, such as {@code access_denied}. */
    String text() {
        return text;
    }
}
