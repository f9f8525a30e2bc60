package io.tailrace.audit;

import io.tailrace.audit.mariadb.MariaDbRecord;
import io.tailrace.audit.mariadb.MariaDbTime;
import io.tailrace.audit.percona.CsvScanner;
import io.tailrace.audit.record.AuditFormatNames;
import io.tailrace.audit.syslog.SyslogLine;
import io.tailrace.audit.xml.XmlFormatDetector;
import io.tailrace.lexer.ByteText;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Detects an audit log's format from its first lines, also if they start in the middle of a record. Most formats can
 * be identified by one line; JSON on several lines and XML need more.
 */
public final class AuditFormatDetector {

    private static final byte[] XML_RECORD = ByteText.ascii("<AUDIT_RECORD");
    private static final byte[] COMMERCIAL = ByteText.ascii("-commercial");
    private static final byte[] PERCONA_TIME = ByteText.ascii("\"time\":");
    private static final byte[] VERSION = ByteText.ascii("\"mysql_version\":");
    private static final byte[][] PERCONA_CLASSES = {
        ByteText.ascii("\"class\": \"command\""), ByteText.ascii("\"class\":\"command\""),
        ByteText.ascii("\"class\": \"query\""), ByteText.ascii("\"class\":\"query\""),
        ByteText.ascii("\"class\": \"parse\""), ByteText.ascii("\"class\":\"parse\""),
        ByteText.ascii("\"class\": \"global_variable\""), ByteText.ascii("\"class\":\"global_variable\""),
        ByteText.ascii("\"class\": \"stored_program\""), ByteText.ascii("\"class\":\"stored_program\""),
        ByteText.ascii("\"class\": \"authentication\""), ByteText.ascii("\"class\":\"authentication\""),
    };
    private static final byte[] TIMESTAMP = ByteText.ascii("\"timestamp\":");
    /** Debug builds write it before the time. */
    private static final byte[] EVENT_CLASS_NAME = ByteText.ascii("\"event_class_name\":");

    private static final byte[] CLASS = ByteText.ascii("\"class\":");
    private static final int MICROSECOND_DIGITS = 16;

    private final MariaDbTime.Local mariaDb = new MariaDbTime.Local();
    private final MariaDbTime.Micros aurora = new MariaDbTime.Micros();
    private final MariaDbTime.Syslog mariaDbSyslog = new MariaDbTime.Syslog(InstantSource.system());
    private final MariaDbRecord mariaDbRecord = new MariaDbRecord();
    private final SyslogLine syslog = new SyslogLine();
    private final XmlFormatDetector xml = new XmlFormatDetector();

    /** The previous line was an opening brace. */
    private boolean afterBrace;

    /** The previous line was the first one of a record that spans several lines. */
    private boolean afterTimestamp;

    /** Returns the name of the format that the lines so far identify; {@code to} excludes the line end. */
    public Optional<String> line(byte[] head, int from, int to) {
        int start = ByteText.skipBlanks(head, from, to);
        if (start == to) {
            return Optional.empty();
        }
        boolean brace = head[start] == '{' && ByteText.trimBlanks(head, start, to) == start + 1;
        String name =
                switch (head[start]) {
                    case '{', '[', ',' -> json(head, start, to);
                    case '"' -> quoted(head, start, to);
                    case '<' -> syslog.isPriority(head, start, to)
                            ? syslog(head, start, to)
                            : xml.line(head, start, to);
                    case '/' -> xml.line(head, start, to);
                    default -> plain(head, from, start, to);
                };
        afterBrace = brace;
        return Optional.ofNullable(name);
    }

    private String quoted(byte[] head, int start, int to) {
        return CsvScanner.startsRecord(head, start, to) ? AuditFormatNames.PERCONA_CSV : filterLine(head, start, to);
    }

    private String plain(byte[] head, int from, int start, int to) {
        byte b = head[start];
        if (ByteText.isDigit(b)) {
            if (isMariaDb(mariaDb, head, from, to)) {
                return AuditFormatNames.MARIADB;
            }
            if (isMariaDb(aurora, head, from, to)) {
                return AuditFormatNames.AURORA;
            }
        }
        if (b >= 'A' && b <= 'Z') {
            String name = xml.line(head, start, to);
            return name == null ? syslog(head, start, to) : name;
        }
        return ByteText.isDigit(b) ? syslog(head, start, to) : null;
    }

    private boolean isMariaDb(MariaDbTime time, byte[] head, int from, int to) {
        int record = time.read(head, from, to, "UTC");
        return record >= 0 && (mariaDbRecord.read(head, record, to) || mariaDbRecord.readCut(head, record, to));
    }

    private String syslog(byte[] head, int from, int to) {
        if (!syslog.read(head, from, to)) {
            return null;
        }
        int message = ByteText.skipBlanks(head, syslog.messageFrom(), to);
        boolean plugin = startsMember(head, message, to, "audit_record")
                || CsvScanner.startsRecord(head, message, to)
                || ByteText.startsWith(head, message, to, XML_RECORD);
        if (plugin) {
            return AuditFormatNames.PERCONA_SYSLOG;
        }
        return isMariaDb(mariaDbSyslog, head, from, to) ? AuditFormatNames.MARIADB_SYSLOG : null;
    }

    /** Returns the format that the first member of an object on one line identifies. */
    private String json(byte[] head, int start, int to) {
        int from = start;
        while (from < to && (head[from] == '[' || head[from] == ',' || ByteText.isBlank(head[from]))) {
            from++;
        }
        if (startsMember(head, from, to, "audit_record")) {
            return AuditFormatNames.PERCONA_JSON;
        }
        if (startsMember(head, from, to, "msg-type")) {
            return AuditFormatNames.MCAFEE;
        }
        boolean object = from < to && head[from] == '{';
        boolean timestamp = object && ByteText.indexOf(head, from, to, TIMESTAMP) >= 0;
        afterTimestamp = timestamp;
        boolean whole = timestamp && ByteText.indexOf(head, from, to, CLASS) >= 0;
        if (!whole) {
            return null;
        }
        return isPercona(head, from, to) ? AuditFormatNames.FILTER_JSON : AuditFormatNames.ENTERPRISE_JSON;
    }

    /** Returns whether the line starts with {@code {"name"}, with any blanks. */
    private static boolean startsMember(byte[] head, int from, int to, String name) {
        if (from >= to || head[from] != '{') {
            return false;
        }
        int mark = ByteText.skipBlanks(head, from + 1, to);
        int end = mark + name.length() + 1;
        return end < to
                && head[mark] == '"'
                && head[end] == '"'
                && ByteText.utf8(head, mark + 1, end).equals(name);
    }

    /**
     * Returns whether Percona's filter wrote the line; it also writes JSONL (8.4.9). MySQL's records never contain
     * what identifies it: a time in microseconds, a version with a separate release number, or a class that MySQL
     * does not have.
     */
    private static boolean isPercona(byte[] head, int from, int to) {
        for (byte[] name : PERCONA_CLASSES) {
            if (ByteText.indexOf(head, from, to, name) >= 0) {
                return true;
            }
        }
        int time = ByteText.indexOf(head, from, to, PERCONA_TIME);
        if (time >= 0) {
            int digits = ByteText.skipBlanks(head, time + PERCONA_TIME.length, to);
            int end = Math.min(digits + MICROSECOND_DIGITS, to);
            return end - digits == MICROSECOND_DIGITS && ByteText.unsigned(head, digits, end) >= 0;
        }
        int version = ByteText.indexOf(head, from, to, VERSION);
        return version >= 0 && isPerconaVersion(head, version + VERSION.length, to);
    }

    /**
     * Returns whether the version is Percona's, as {@code "8.4.9-9"}; MySQL's are {@code 8.4.9} and {@code
     * 8.4.9-commercial}.
     */
    private static boolean isPerconaVersion(byte[] head, int from, int to) {
        int i = ByteText.skipBlanks(head, from, to) + 1;
        while (i < to && (ByteText.isDigit(head[i]) || head[i] == '.')) {
            i++;
        }
        return i + 1 < to
                && head[i] == '-'
                && ByteText.isDigit(head[i + 1])
                && !ByteText.startsWith(head, i, to, COMMERCIAL);
    }

    /**
     * Detects the format of JSON on several lines. Only Percona's filter writes the first member on a separate line
     * below its brace; in MySQL's manual it is after the brace, and the others are below.
     */
    private String filterLine(byte[] head, int start, int to) {
        if (afterTimestamp && ByteText.startsWith(head, start, to, CLASS)) {
            return AuditFormatNames.ENTERPRISE_JSON;
        }
        boolean first = ByteText.startsWith(head, start, to, TIMESTAMP)
                || ByteText.startsWith(head, start, to, EVENT_CLASS_NAME);
        return afterBrace && first ? AuditFormatNames.FILTER_JSON : null;
    }
}
