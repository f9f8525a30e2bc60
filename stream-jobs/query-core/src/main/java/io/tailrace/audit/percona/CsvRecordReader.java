package io.tailrace.audit.percona;

import io.tailrace.audit.record.MemberHandler;
import io.tailrace.audit.record.RecordResult;
import io.tailrace.lexer.ValueBuffer;

/**
 * Reads one record of {@code audit_log_format=CSV} under the names that the same members have in JSON. The number of
 * columns, and whether the fifth is quoted, identify the members: 6 for an Audit record; 12 for a connection, whose
 * fifth is the status, an unquoted number; 12 for a statement, whose fifth is the connection. Not thread-safe.
 */
final class CsvRecordReader {

    private static final String[] SERVER = {
        "name", "record", "timestamp", "mysql_version", "startup_options", "os_version"
    };
    private static final String[] CONNECTION = {
        "name",
        "record",
        "timestamp",
        "connection_id",
        "status",
        "user",
        "priv_user",
        "os_login",
        "proxy_user",
        "host",
        "ip",
        "db"
    };
    private static final String[] STATEMENT = {
        "name",
        "record",
        "timestamp",
        "command_class",
        "connection_id",
        "status",
        "sqltext",
        "user",
        "host",
        "os_user",
        "ip",
        "db"
    };
    private static final int MAX_COLUMNS = 12;
    private static final int STATUS_OF_CONNECTION = 4;

    private final ValueBuffer value = new ValueBuffer();
    private final int[] from = new int[MAX_COLUMNS];
    private final int[] to = new int[MAX_COLUMNS];
    private byte[] in;
    private int columns;

    /** Reads a record; {@code end} excludes its line end. */
    RecordResult read(byte[] bytes, int start, int end, MemberHandler out) {
        in = bytes;
        columns = 0;
        RecordResult reading = split(start, end);
        if (reading == RecordResult.WHOLE) {
            String[] names = names();
            for (int i = 0; i < columns; i++) {
                unescape(from[i], to[i]);
                out.member(names[i], value.bytes, value.length);
            }
        }
        in = null;
        return reading;
    }

    private RecordResult split(int start, int end) {
        int i = start;
        while (columns < MAX_COLUMNS) {
            from[columns] = i;
            i = fieldEnd(i, end);
            to[columns++] = Math.min(i, end);
            if (i >= end) {
                break;
            }
            i++;
        }
        if (i > end || columns < MAX_COLUMNS && !isServer()) {
            return RecordResult.CUT;
        }
        return i == end ? RecordResult.WHOLE : RecordResult.MALFORMED;
    }

    /**
     * Returns the index of the comma after a field, or the end; after the end if its closing quotation mark is
     * missing.
     */
    private int fieldEnd(int start, int end) {
        int i = start;
        if (i < end && in[i] == '"') {
            i++;
            while (i < end && (in[i] != '"' || i + 1 < end && in[i + 1] == '"')) {
                i += in[i] == '"' ? 2 : 1;
            }
            if (i >= end) {
                return end + 1;
            }
        }
        while (i < end && in[i] != ',') {
            i++;
        }
        return i;
    }

    /**
     * Returns whether the record has six columns and no status. A statement that was cut after its status also has
     * six.
     */
    private boolean isServer() {
        return columns == SERVER.length && isQuoted(STATUS_OF_CONNECTION) && isQuoted(columns - 1);
    }

    private boolean isQuoted(int column) {
        return from[column] < to[column] && in[from[column]] == '"';
    }

    private String[] names() {
        if (columns == SERVER.length) {
            return SERVER;
        }
        return isQuoted(STATUS_OF_CONNECTION) ? STATEMENT : CONNECTION;
    }

    private void unescape(int start, int end) {
        value.clear();
        boolean quoted = end > start && in[start] == '"';
        int i = quoted ? start + 1 : start;
        int last = quoted && in[end - 1] == '"' ? end - 1 : end;
        while (i < last) {
            byte b = in[i++];
            value.put(b);
            if (b == '"' && i < last && in[i] == '"') {
                i++;
            }
        }
    }
}
