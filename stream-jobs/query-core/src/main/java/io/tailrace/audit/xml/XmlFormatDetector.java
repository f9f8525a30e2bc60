package io.tailrace.audit.xml;

import io.tailrace.audit.record.AuditFormatNames;
import io.tailrace.lexer.ByteText;

/**
 * Detects from the first lines of a file which writer produced its XML, and whether it is old style or new. RECORD is
 * the record number of Percona's plugin. RECORD_ID is that of the others, of which Percona's filter writes times
 * without a zone. MySQL 5.5 and 5.6 wrote no number, and UTC without a zone.
 */
public final class XmlFormatDetector {

    private static final byte[] RECORD_OPEN = ByteText.ascii("<AUDIT_RECORD");
    private static final byte[] RECORD_CLOSE = ByteText.ascii("</AUDIT_RECORD>");
    private static final int TIME_LENGTH = "2026-01-02T03:04:05".length();

    /** The start of the current record was read. */
    private boolean opened;

    private boolean numbered;
    private boolean timed;
    private boolean zoned;
    private boolean inElements;

    /**
     * Reads the tags or attributes of a line; returns the format's name as soon as they identify it, otherwise null.
     */
    public String line(byte[] head, int start, int to) {
        int i = start;
        while (i < to) {
            int name = head[i] == '<' ? i + 1 : i;
            int end = nameEnd(head, name, to);
            String decided = piece(head, i, end, to);
            if (decided != null) {
                return decided;
            }
            i = next(head, Math.max(end, i + 1), to);
        }
        return null;
    }

    private static int nameEnd(byte[] head, int from, int to) {
        int end = from;
        while (end < to && (isUpper(head[end]) || head[end] == '_')) {
            end++;
        }
        return end;
    }

    /** Reads the tag or attribute at {@code i}, whose name ends at {@code end}. */
    private String piece(byte[] head, int i, int end, int to) {
        if (ByteText.startsWith(head, i, to, RECORD_OPEN)) {
            startRecord(true);
            return null;
        }
        if (ByteText.startsWith(head, i, to, RECORD_CLOSE) || isEmptyEnd(head, i, to)) {
            return atEnd();
        }
        boolean element = head[i] == '<';
        int name = element ? i + 1 : i;
        boolean member = end > name && end < to && head[end] == (element ? '>' : '=');
        return member ? member(head, name, end, to, element) : null;
    }

    private static boolean isEmptyEnd(byte[] head, int i, int to) {
        return head[i] == '/' && i + 1 < to && head[i + 1] == '>';
    }

    /** Returns the index of the next tag, end of a tag or word in capitals on the line. */
    private static int next(byte[] head, int from, int to) {
        int i = from;
        while (i < to
                && head[i] != '<'
                && !isEmptyEnd(head, i, to)
                && !(isUpper(head[i]) && ByteText.isBlank(head[i - 1]))) {
            i++;
        }
        return i;
    }

    private static boolean isUpper(byte b) {
        return b >= 'A' && b <= 'Z';
    }

    private String member(byte[] head, int name, int end, int to, boolean element) {
        switch (ByteText.utf8(head, name, end)) {
            case "RECORD" -> {
                return element ? AuditFormatNames.PERCONA_NEW : AuditFormatNames.PERCONA_OLD;
            }
            case "RECORD_ID" -> numbered = true;
            case "TIMESTAMP" -> {
                timed = true;
                inElements = element;
                zoned = isZoned(head, end, to);
            }
            default -> {}
        }
        return numbered && timed ? decided() : null;
    }

    /**
     * Returns whether a time has a zone: {@code 2026-01-02T03:04:05 UTC} or {@code …Z}, after a quotation mark or a
     * tag.
     */
    private static boolean isZoned(byte[] head, int from, int to) {
        int i = from;
        while (i < to && !ByteText.isDigit(head[i])) {
            i++;
        }
        int zone = i + TIME_LENGTH;
        return zone < to && (head[zone] == 'Z' || head[zone] == ' ');
    }

    private String decided() {
        if (zoned) {
            return enterprise();
        }
        return inElements ? AuditFormatNames.FILTER_NEW : AuditFormatNames.FILTER_OLD;
    }

    private String enterprise() {
        return inElements ? AuditFormatNames.ENTERPRISE_NEW : AuditFormatNames.ENTERPRISE_OLD;
    }

    private void startRecord(boolean seen) {
        opened = seen;
        timed = false;
        numbered = false;
    }

    /** Returns the format of a whole record without a number. */
    private String atEnd() {
        boolean numberless = opened && timed;
        startRecord(false);
        return numberless ? enterprise() : null;
    }
}
