package io.tailrace.detection.event;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The fields of database events: docs/TAXONOMY.md. */
public enum DatabaseField {
    EVENT_ID("event_id", "event.id"),
    TIMESTAMP("timestamp", "@timestamp"),
    CLUSTER("cluster"),
    INSTANCE("instance", "service.node.name"),
    FORMAT("format", "event.dataset"),
    EVENT_CLASS("event_class"),
    COMMAND("command", "event.action"),
    COMMAND_CLASS("command_class"),
    EVENT_NAME("event_name"),
    LOGIN("login"),
    OUTCOME("outcome", "event.outcome"),
    STATUS("status"),
    ERROR_CODE("error_code", "error.code"),
    USER("user", "user.name"),
    PRIV_USER("priv_user", "user.effective.name"),
    PROXY_USER("proxy_user"),
    OS_USER("os_user"),
    HOST("host", "source.domain"),
    SRC_IP("src_ip", "source.ip"),
    SRC_PORT("src_port", "source.port"),
    CONNECTION_ID("connection_id"),
    CONNECTION_TYPE("connection_type"),
    PROGRAM("program", "user_agent.name"),
    DATABASE("database", "db.namespace"),
    TABLE("table", "db.collection.name"),
    TABLE_READ("table_read"),
    TABLE_WRITTEN("table_written"),
    TABLES_BASIS("tables_basis"),
    DATA_CLASS("data_class"),
    DATA_CLASS_READ("data_class_read"),
    DATA_CLASS_WRITTEN("data_class_written"),
    DATA_BASIS("data_basis"),
    DATA_ACCESS("data_access"),
    TARGET_ACCOUNT("target_account"),
    TARGET_USER("target_user", "user.target.name"),
    VERB("verb", "db.operation.name"),
    STATEMENT("statement", "db.query.text"),
    QUERY_ID("query_id"),
    SERVER_QUERY_ID("server_query_id"),
    QUERY_TIME("query_time"),
    LOCK_TIME("lock_time"),
    ROWS_SENT("rows_sent"),
    ROWS_EXAMINED("rows_examined"),
    ROWS_AFFECTED("rows_affected"),
    BYTES_SENT("bytes_sent"),
    PLAN_FLAG("plan_flag"),
    FLAG("flag"),
    SERVER_VERSION("server_version", "service.version"),
    LEVEL("level", "log.level"),
    SUBSYSTEM("subsystem"),
    KIND("kind"),
    MESSAGE("message"),
    TRACE_ID("trace_id", "trace.id"),
    SPAN_ID("span_id", "span.id");

    /** Prefixes of fields whose names come from logs, clients and applications. */
    public static final List<String> PREFIXES = List.of("attribute.", "connection_attribute.", "detail.", "tag.");

    private final String fieldName;
    private final List<String> names;

    DatabaseField(String... names) {
        this.fieldName = names[0];
        this.names = List.of(names);
    }

    /** Returns the name of the field in events. */
    public String fieldName() {
        return fieldName;
    }

    /** Returns the name in the Elastic Common Schema or in OpenTelemetry; empty if there is none. */
    public String ecsName() {
        return names.size() > 1 ? names.get(1) : "";
    }

    /** Returns the field with this name, in events or in the Elastic Common Schema or OpenTelemetry. */
    public static Optional<DatabaseField> named(String name) {
        return Arrays.stream(values())
                .filter(field -> field.names.contains(name))
                .findFirst();
    }

    /** Returns all names of all fields. */
    public static Stream<String> allNames() {
        return Arrays.stream(values()).flatMap(field -> field.names.stream());
    }
}
