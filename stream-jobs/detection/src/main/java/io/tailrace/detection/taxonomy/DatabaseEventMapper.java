package io.tailrace.detection.taxonomy;

import io.tailrace.client.ClientAddress;
import io.tailrace.detection.event.DatabaseField;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.EventId;
import io.tailrace.event.QueryEvent;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Converts events of logs to the fields of rules: docs/TAXONOMY.md. A value that the log does not contain is absent.
 */
public final class DatabaseEventMapper {

    private static final String CATEGORY = "database";
    /** Logs of MariaDB and Percona look like MySQL's, so the product is not always known. */
    private static final String PRODUCT = "mysql";

    /** Error logs contain it for logins only; a statement without the privilege fails with an error to its client. */
    private static final String ACCESS_DENIED = "access_denied";

    private static final Map<String, LogSource> SOURCES = Stream.of("slowlog", "audit", "general", "errorlog")
            .collect(Collectors.toUnmodifiableMap(
                    service -> service, service -> new LogSource(CATEGORY, PRODUCT, service)));

    private static final HexFormat QUERY_ID_DIGITS = HexFormat.of().withUpperCase();

    private DatabaseEventMapper() {}

    /** @param fingerprint fingerprint with the event's query_id */
    public static DetectionEvent of(QueryEvent event, String fingerprint) {
        Fields fields = new Fields(event.getEventId(), event.getEventTime(), event.getSource());
        fields.known(DatabaseField.CLUSTER, event.getCluster());
        fields.known(DatabaseField.INSTANCE, event.getInstance());
        fields.known(DatabaseField.FORMAT, event.getFormat());
        fields.known(DatabaseField.EVENT_CLASS, "query");
        fields.from(event.getUser(), event.getHost(), event.getIp());
        fields.number(DatabaseField.CONNECTION_ID, event.getConnectionId(), 0);
        fields.known(DatabaseField.DATABASE, event.getDatabase());
        fields.tables(event.getDatabase(), event.getTablesRead(), event.getTablesWritten());
        fields.known(
                DatabaseField.TABLES_BASIS,
                event.getTablesRead().isEmpty() && event.getTablesWritten().isEmpty() ? "" : "statement");
        fields.statement(event.getVerb(), fingerprint, event.getQueryId());
        fields.accounts(event.getAccounts());
        fields.out.number(DatabaseField.QUERY_TIME.fieldName(), event.getQueryTime());
        fields.out.number(DatabaseField.LOCK_TIME.fieldName(), event.getLockTime());
        fields.out.number(DatabaseField.ROWS_SENT.fieldName(), event.getRowsSent());
        fields.out.number(DatabaseField.ROWS_EXAMINED.fieldName(), event.getRowsExamined());
        fields.number(DatabaseField.ROWS_AFFECTED, event.getRowsAffected());
        fields.number(DatabaseField.BYTES_SENT, event.getBytesSent());
        Integer code = event.getErrorCode();
        fields.status(StatusOutcome.ofEntry(code), code == null ? 0 : code);
        fields.texts(DatabaseField.PLAN_FLAG, event.getPlanFlags());
        fields.texts(DatabaseField.FLAG, event.getFlags());
        fields.all("attribute.", event.getAttributes());
        fields.trace(event.getTags(), event.getTraceId(), event.getSpanId());
        return fields.out.order(event.getEntryOffset()).build();
    }

    /** @param fingerprint fingerprint with the event's query_id; empty if it has none */
    public static DetectionEvent of(AuditEvent event, String fingerprint) {
        Fields fields = new Fields(event.getEventId(), event.getEventTime(), event.getSource());
        fields.known(DatabaseField.CLUSTER, event.getCluster());
        fields.known(DatabaseField.INSTANCE, event.getInstance());
        fields.known(DatabaseField.FORMAT, event.getFormat());
        fields.known(DatabaseField.EVENT_CLASS, event.getEventClass());
        fields.known(DatabaseField.COMMAND, event.getCommand());
        fields.known(DatabaseField.COMMAND_CLASS, event.getCommandClass());
        fields.known(DatabaseField.EVENT_NAME, event.getEventName());
        fields.known(DatabaseField.LOGIN, LoginClassifier.of(event));
        fields.from(event.getUser(), event.getHost(), event.getIp());
        fields.known(DatabaseField.PRIV_USER, event.getPrivUser());
        fields.known(DatabaseField.PROXY_USER, event.getProxyUser());
        fields.known(DatabaseField.OS_USER, event.getOsUser());
        fields.number(DatabaseField.SRC_PORT, event.getPort(), 0);
        fields.number(DatabaseField.CONNECTION_ID, event.getConnectionId(), 0);
        fields.known(DatabaseField.CONNECTION_TYPE, event.getConnectionType());
        fields.known(DatabaseField.PROGRAM, event.getProgramName());
        fields.known(DatabaseField.DATABASE, event.getDatabase());
        fields.tables(event.getDatabase(), event.getTablesRead(), event.getTablesWritten());
        fields.known(DatabaseField.TABLES_BASIS, event.getTablesBasis());
        fields.statement(event.getVerb(), fingerprint, event.getQueryId());
        fields.accounts(event.getAccounts());
        fields.number(DatabaseField.SERVER_QUERY_ID, event.getServerQueryId(), 0);
        fields.status(StatusOutcome.of(event), event.getStatus());
        fields.texts(DatabaseField.FLAG, event.getFlags());
        fields.known(DatabaseField.SERVER_VERSION, event.getServerVersion());
        fields.all("attribute.", event.getAttributes());
        fields.all("connection_attribute.", event.getConnectionAttributes());
        fields.trace(event.getTags(), event.getTraceId(), event.getSpanId());
        return fields.out.order(event.getEntryOffset()).build();
    }

    public static DetectionEvent of(ErrorEvent event) {
        Fields fields = new Fields(event.getEventId(), event.getEventTime(), event.getSource());
        fields.known(DatabaseField.CLUSTER, event.getCluster());
        fields.known(DatabaseField.INSTANCE, event.getInstance());
        fields.known(DatabaseField.FORMAT, event.getFormat());
        fields.known(DatabaseField.EVENT_CLASS, "message");
        fields.known(DatabaseField.LEVEL, event.getLevel());
        fields.known(DatabaseField.SUBSYSTEM, event.getSubsystem());
        fields.known(DatabaseField.ERROR_CODE, event.getCode());
        fields.known(DatabaseField.KIND, event.getKind());
        if (event.getKind().equals(ACCESS_DENIED)) {
            fields.known(DatabaseField.LOGIN, StatusOutcome.FAILURE);
            fields.known(DatabaseField.OUTCOME, StatusOutcome.FAILURE);
        }
        fields.known(DatabaseField.MESSAGE, event.getMessage());
        fields.from(event.getUser(), event.getHost(), event.getIp());
        fields.number(DatabaseField.CONNECTION_ID, event.getThreadId(), 0);
        fields.known(DatabaseField.DATABASE, event.getDatabase());
        fields.texts(DatabaseField.FLAG, event.getFlags());
        fields.all("detail.", event.getDetails());
        return fields.out.order(event.getEntryOffset()).build();
    }

    /** Sets fields by their type. */
    private static final class Fields {

        private final DetectionEvent.Builder out;

        Fields(EventId id, Instant time, String service) {
            ByteBuffer bytes = ByteBuffer.wrap(id.bytes());
            String text = new UUID(bytes.getLong(), bytes.getLong()).toString();
            long micros = ChronoUnit.MICROS.between(Instant.EPOCH, time);
            out = DetectionEvent.builder(text, micros, source(service));
            out.text(DatabaseField.EVENT_ID.fieldName(), text);
            out.time(DatabaseField.TIMESTAMP.fieldName(), time);
        }

        /** One object for all events of a kind of log, so that it is mostly compared by identity. */
        private static LogSource source(String service) {
            LogSource known = SOURCES.get(service);
            return known == null ? new LogSource(CATEGORY, PRODUCT, service) : known;
        }

        void known(DatabaseField field, String text) {
            out.known(field.fieldName(), text);
        }

        void number(DatabaseField field, long number, long unknown) {
            if (number != unknown) {
                out.number(field.fieldName(), number);
            }
        }

        void number(DatabaseField field, Long number) {
            if (number != null) {
                out.number(field.fieldName(), number.longValue());
            }
        }

        void texts(DatabaseField field, List<String> texts) {
            out.texts(field.fieldName(), texts);
        }

        void all(String prefix, Map<String, String> map) {
            map.forEach((name, value) -> out.text(prefix + name, value));
        }

        /** Older versions of the parsers published the client in another form. */
        void from(String user, String host, String ip) {
            ClientAddress client = ClientAddress.of(host, ip);
            known(DatabaseField.USER, user);
            known(DatabaseField.HOST, client.host().isEmpty() ? client.address() : client.host());
            known(DatabaseField.SRC_IP, client.address());
        }

        void statement(String verb, String fingerprint, Long queryId) {
            known(DatabaseField.VERB, verb);
            known(DatabaseField.STATEMENT, fingerprint);
            String plain = VersionComments.areIn(fingerprint) ? VersionComments.removed(fingerprint) : fingerprint;
            String run = StatementSettings.removed(OdbcEscapes.removed(plain));
            if (!run.equals(fingerprint)) {
                out.texts(DatabaseField.STATEMENT.fieldName(), List.of(fingerprint, run));
            }
            if (queryId != null) {
                out.text(DatabaseField.QUERY_ID.fieldName(), QUERY_ID_DIGITS.toHexDigits(queryId));
            }
        }

        void accounts(List<String> accounts) {
            if (!accounts.isEmpty()) {
                texts(DatabaseField.TARGET_ACCOUNT, accounts);
                texts(
                        DatabaseField.TARGET_USER,
                        accounts.stream().map(Fields::userOf).distinct().toList());
            }
        }

        /** Returns the name before {@code @}; it is in backticks if it contains {@code @} itself. */
        private static String userOf(String account) {
            if (account.startsWith("`")) {
                int end = 1;
                while (end < account.length() && (account.charAt(end) != '`' || account.startsWith("``", end))) {
                    end += account.charAt(end) == '`' ? 2 : 1;
                }
                return account.substring(1, Math.min(end, account.length())).replace("``", "`");
            }
            int at = account.indexOf('@');
            return at < 0 ? account : account.substring(0, at);
        }

        /** A code of 0 means success if the log contains the status. */
        void status(String outcome, int code) {
            out.text(DatabaseField.OUTCOME.fieldName(), outcome);
            if (code != 0 || outcome.equals(StatusOutcome.SUCCESS)) {
                out.number(DatabaseField.STATUS.fieldName(), code);
            }
            number(DatabaseField.ERROR_CODE, code, 0);
        }

        /** Sets tables with their database, if it is known. */
        void tables(String database, List<String> read, List<String> written) {
            if (read.isEmpty() && written.isEmpty()) {
                return;
            }
            List<String> fullRead = full(database, read);
            List<String> fullWritten = full(database, written);
            out.texts(DatabaseField.TABLE.fieldName(), union(fullRead, fullWritten));
            out.texts(DatabaseField.TABLE_READ.fieldName(), fullRead);
            out.texts(DatabaseField.TABLE_WRITTEN.fieldName(), fullWritten);
        }

        private static Collection<String> union(List<String> read, List<String> written) {
            if (written.isEmpty() && read.size() == 1) {
                return read;
            }
            Set<String> all = new LinkedHashSet<>(read);
            all.addAll(written);
            return all;
        }

        private static List<String> full(String database, List<String> tables) {
            List<String> full = new ArrayList<>(tables.size());
            for (String table : tables) {
                full.add(table.indexOf('.') >= 0 || database.isEmpty() ? table : database + '.' + table);
            }
            return full;
        }

        void trace(Map<String, String> tags, String traceId, String spanId) {
            all("tag.", tags);
            known(DatabaseField.TRACE_ID, traceId);
            known(DatabaseField.SPAN_ID, spanId);
        }
    }
}
