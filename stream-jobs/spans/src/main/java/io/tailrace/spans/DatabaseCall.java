package io.tailrace.spans;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.common.v1.KeyValue;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A database call, read from a span's attributes according to OpenTelemetry's semantic conventions: the stable ones
 * (1.33 and later: {@code db.system.name}, {@code db.query.text}, {@code db.namespace}) and the earlier ones ({@code
 * db.system}, {@code db.statement}, {@code db.name}). If a span has both, the stable ones take precedence.
 *
 * @param system such as {@code mysql}, in lower case; empty if the span is not a database call
 * @param statement empty if there is none
 * @param database empty if unknown
 */
record DatabaseCall(String system, ByteString statement, String database) {

    /** A span that is not a database call. */
    static final DatabaseCall NONE = new DatabaseCall("", ByteString.EMPTY, "");

    private static final Set<String> MYSQL_FAMILY = Set.of("mysql", "mariadb", "percona");

    /** The systems of the conventions whose query language is SQL. */
    private static final Set<String> SQL = Set.of(
            // spotless:off
            "mysql", "mariadb", "percona", "postgresql", "sqlite", "microsoft.sql_server", "mssql", "oracle", "oracle.db",
            "h2", "h2database", "hsqldb", "derby", "db2", "ibm.db2", "cockroachdb", "clickhouse", "firebirdsql", "trino",
            "redshift", "aws.redshift", "gcp.spanner", "spanner", "hive", "teradata", "sap.hana", "hanadb", "vertica",
            "sybase", "ingres", "informix", "ibm.informix", "other_sql");
            // spotless:on

    static DatabaseCall of(List<KeyValue> attributes) {
        String system = "";
        String database = "";
        ByteString statement = ByteString.EMPTY;
        for (KeyValue attribute : attributes) {
            switch (attribute.getKey()) {
                case "db.system.name" -> system = attribute.getValue().getStringValue();
                case "db.system" -> system = orElse(system, attribute);
                case "db.namespace" -> database = attribute.getValue().getStringValue();
                case "db.name" -> database = orElse(database, attribute);
                case "db.query.text" -> statement = attribute.getValue().getStringValueBytes();
                case "db.statement" -> statement =
                        statement.isEmpty() ? attribute.getValue().getStringValueBytes() : statement;
                default -> {}
            }
        }
        return system.isEmpty() && statement.isEmpty()
                ? NONE
                : new DatabaseCall(system.toLowerCase(Locale.ROOT), statement, AttributeFormatter.cut(database));
    }

    private static String orElse(String known, KeyValue attribute) {
        return known.isEmpty() ? attribute.getValue().getStringValue() : known;
    }

    boolean isMySql() {
        return MYSQL_FAMILY.contains(system);
    }

    /** Returns whether an SQL lexer can identify the literals of the statement. */
    boolean isSql() {
        return SQL.contains(system);
    }
}
