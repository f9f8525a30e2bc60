package io.tailrace.audit;

import io.tailrace.lexer.ByteText;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Tells an audit log's format from its first lines, also where they start in the middle of a record. Most formats show
 * in one line; XML takes a record's number and time, which may come in either order.
 */
public final class AuditHead {

    private static final byte[] RECORD_OPEN = ByteText.ascii("<AUDIT_RECORD");
    private static final byte[] RECORD_CLOSE = ByteText.ascii("</AUDIT_RECORD>");
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
    private static final byte[] CLASS = ByteText.ascii("\"class\":");
    private static final int MICROSECOND_DIGITS = 16;

    private final MariaDbTime.Local mariaDb = new MariaDbTime.Local();
    private final MariaDbTime.Micros aurora = new MariaDbTime.Micros();
    private final MariaDbTime.Syslog mariaDbSyslog = new MariaDbTime.Syslog(InstantSource.system());
    private final MariaDbRecord mariaDbRecord = new MariaDbRecord();
    private final SyslogLine syslog = new SyslogLine();

    /** The latest line was an opening brace. */
    private boolean afterBrace;

    /** The latest line was the first of a record's JSON on several lines. */
    private boolean afterTimestamp;

    /** What the XML record at hand has shown so far. */
    private boolean opened;

    private boolean filterOrEnterprise;
    private boolean timed;
    private boolean zoned;
    private boolean inElements;

    /** The name of the format that the lines so far show. {@code to} excludes the line end. */
    public Optional<String> line(byte[] head, int from, int to) {
        int start = ByteText.skipBlanks(head, from, to);
        if (start == to) {
            return Optional.empty();
        }
        boolean brace = head[start] == '{' && ByteText.trimBlanks(head, start, to) == start + 1;
        String name = switch (head[start]) {
            case '{', '[', ',' -> json(head, start, to);
            case '"' -> CsvScanner.startsRecord(head, start, to) ? AuditFormats.PERCONA_CSV : filterLine(head, start, to);
            case '<' -> syslog.isPriority(head, start, to) ? syslog(head, start, to) : xml(head, start, to);
            case '/' -> xml(head, start, to);
            default -> plain(head, from, start, to);
        };
        afterBrace = brace;
        return Optional.ofNullable(name);
    }

    private String plain(byte[] head, int from, int start, int to) {
        byte b = head[start];
        if (ByteText.isDigit(b)) {
            if (isMariaDb(mariaDb, head, from, to)) {
                return AuditFormats.MARIADB;
            }
            if (isMariaDb(aurora, head, from, to)) {
                return AuditFormats.AURORA;
            }
        }
        if (b >= 'A' && b <= 'Z') {
            String name = xml(head, start, to);
            return name == null ? syslog(head, start, to) : name;
        }
        return ByteText.isDigit(b) ? syslog(head, start, to) : null;
    }

    private boolean isMariaDb(MariaDbTime time, byte[] head, int from, int to) {
        int record = time.read(head, from, to, "UTC");
        return record >= 0
                && (mariaDbRecord.read(head, record, to) || mariaDbRecord.readCut(head, record, to));
    }

    private String syslog(byte[] head, int from, int to) {
        if (!syslog.read(head, from, to)) {
            return null;
        }
        int message = ByteText.skipBlanks(head, syslog.messageFrom(), to);
        boolean plugin = startsMember(head, message, to, "audit_record")
                || CsvScanner.startsRecord(head, message, to)
                || ByteText.startsWith(head, message, to, RECORD_OPEN);
        if (plugin) {
            return AuditFormats.PERCONA_SYSLOG;
        }
        return isMariaDb(mariaDbSyslog, head, from, to) ? AuditFormats.MARIADB_SYSLOG : null;
    }

    /** The first member of an object on one line. */
    private String json(byte[] head, int start, int to) {
        int from = start;
        while (from < to && (head[from] == '[' || head[from] == ',' || ByteText.isBlank(head[from]))) {
            from++;
        }
        if (startsMember(head, from, to, "audit_record")) {
            return AuditFormats.PERCONA_JSON;
        }
        if (startsMember(head, from, to, "msg-type")) {
            return AuditFormats.MCAFEE;
        }
        boolean timestamp = startsMember(head, from, to, "timestamp");
        afterTimestamp = timestamp;
        boolean whole = timestamp && ByteText.indexOf(head, from, to, CLASS) >= 0;
        if (!whole) {
            return null;
        }
        return isPercona(head, from, to) ? AuditFormats.FILTER_JSON : AuditFormats.ENTERPRISE_JSON;
    }

    /** {@code {"name"} with any blanks. */
    private static boolean startsMember(byte[] head, int from, int to, String name) {
        if (from >= to || head[from] != '{') {
            return false;
        }
        int mark = ByteText.skipBlanks(head, from + 1, to);
        int end = mark + name.length() + 1;
        return end < to && head[mark] == '"' && head[end] == '"'
                && ByteText.utf8(head, mark + 1, end).equals(name);
    }

    /**
     * Percona's filter writes a record on one line too (JSONL, 8.4.9): it is told by what MySQL's never holds, a time
     * in microseconds, a version with a release of its own, or a class that MySQL does not know.
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

    /** {@code "8.4.9-9"}; MySQL's are {@code 8.4.9} and {@code 8.4.9-commercial}. */
    private static boolean isPerconaVersion(byte[] head, int from, int to) {
        int i = ByteText.skipBlanks(head, from, to) + 1;
        while (i < to && (ByteText.isDigit(head[i]) || head[i] == '.')) {
            i++;
        }
        return i + 1 < to && head[i] == '-' && ByteText.isDigit(head[i + 1])
                && !ByteText.startsWith(head, i, to, COMMERCIAL);
    }

    /**
     * A first member on a line of its own below its brace is written by Percona's filter; MySQL's manual has it behind
     * the brace, and the others below.
     */
    private String filterLine(byte[] head, int start, int to) {
        if (afterTimestamp && ByteText.startsWith(head, start, to, CLASS)) {
            return AuditFormats.ENTERPRISE_JSON;
        }
        return afterBrace && ByteText.startsWith(head, start, to, TIMESTAMP) ? AuditFormats.FILTER_JSON : null;
    }

    /**
     * Reads the tags or attributes of a line. RECORD is the plugin's number; RECORD_ID is the others', of which
     * Percona's filter writes times without a zone. MySQL 5.5 wrote no number, and UTC without saying so.
     */
    private String xml(byte[] head, int start, int to) {
        int i = start;
        while (i < to) {
            boolean element = head[i] == '<';
            int name = element ? i + 1 : i;
            int end = name;
            while (end < to && (head[end] >= 'A' && head[end] <= 'Z' || head[end] == '_')) {
                end++;
            }
            if (ByteText.startsWith(head, i, to, RECORD_OPEN)) {
                startRecord(true);
            } else if (ByteText.startsWith(head, i, to, RECORD_CLOSE) || head[i] == '/' && i + 1 < to && head[i + 1] == '>') {
                String decided = atEnd();
                if (decided != null) {
                    return decided;
                }
            } else if (end > name && end < to && (element ? head[end] == '>' : head[end] == '=')) {
                String decided = field(head, name, end, to, element);
                if (decided != null) {
                    return decided;
                }
            }
            i = next(head, Math.max(end, i + 1), to);
        }
        return null;
    }

    /** Index of the next tag or of the next word on the line. */
    private static int next(byte[] head, int from, int to) {
        int i = from;
        while (i < to && head[i] != '<' && !(i > from && ByteText.isBlank(head[i - 1]) && isUpper(head[i]))
                && !(head[i] == '/' && i + 1 < to && head[i + 1] == '>')) {
            i++;
        }
        return i;
    }

    private static boolean isUpper(byte b) {
        return b >= 'A' && b <= 'Z';
    }

    private String field(byte[] head, int name, int end, int to, boolean element) {
        switch (ByteText.utf8(head, name, end)) {
            case "RECORD" -> {
                return element ? AuditFormats.PERCONA_NEW : AuditFormats.PERCONA_OLD;
            }
            case "RECORD_ID" -> filterOrEnterprise = true;
            case "TIMESTAMP" -> {
                timed = true;
                inElements = element;
                zoned = isZoned(head, end, to);
            }
            default -> { }
        }
        return filterOrEnterprise && timed ? decided() : null;
    }

    /** {@code 2026-01-02T03:04:05 UTC} or {@code …Z}, after a mark or a tag. */
    private static boolean isZoned(byte[] head, int from, int to) {
        int i = from;
        while (i < to && !ByteText.isDigit(head[i])) {
            i++;
        }
        int zone = i + "2026-01-02T03:04:05".length();
        return zone < to && (head[zone] == 'Z' || head[zone] == ' ');
    }

    private String decided() {
        if (zoned) {
            return inElements ? AuditFormats.ENTERPRISE_NEW : AuditFormats.ENTERPRISE_OLD;
        }
        return inElements ? AuditFormats.FILTER_NEW : AuditFormats.FILTER_OLD;
    }

    private void startRecord(boolean seen) {
        opened = seen;
        timed = false;
        filterOrEnterprise = false;
    }

    /** A whole record without a number of its own. */
    private String atEnd() {
        boolean numberless = opened && timed;
        startRecord(false);
        if (!numberless) {
            return null;
        }
        return inElements ? AuditFormats.ENTERPRISE_NEW : AuditFormats.ENTERPRISE_OLD;
    }
}
