package io.tailrace.detection.detector.volume;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.detector.firstseen.ColumnKind;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.EnumSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Recognizes statements that read or change sensitive rows of one table by a value: {@code SELECT iban FROM clients WHERE id
 * = ?}, {@code UPDATE fees SET paid = amount WHERE id = ?}. Executed with all values, such a statement reads or changes the
 * whole table. Read rows are sensitive if the event touches a data class, or by the names of the selected columns or of the
 * table, changed rows by the names of the assigned columns. Not thread-safe.
 */
final class LookupStatements {

    private static final String SELECT = "SELECT";
    private static final String UPDATE = "UPDATE";
    private static final int PLACES = 1 << 12;
    /** A longer statement has more conditions than those of a lookup. */
    private static final int MAX_LENGTH = 1_024;

    private static final String NAME = "[a-z0-9_.$?`]{1,130}";
    private static final String VALUE = "(= ?\\?|in ?\\(\\?\\+?\\)|like ?\\?)";
    /** {@link RangeStatements} count patterns: lists of a search are many and would hide lookups. */
    private static final String KEY = "(= ?\\?|in ?\\(\\?\\+?\\))";

    private static final String BY_VALUE = " where \\(?" + NAME + " ?" + KEY + "\\)?"
            + "( and \\(?" + NAME + "( ?" + VALUE + "| is (not )?null| ?(>|<|>=|<=|<>|!=) ?(\\?|" + NAME
            + "))\\)?){0,3}"
            + "( order by [a-z0-9_?`., ]{1,130})?( limit ?\\?(, ?\\?| offset ?\\?)?)?";
    private static final Pattern READ = Pattern.compile(
            "select (?<columns>.{1,700}) from " + NAME + "( (as )?(?!where)[a-z_?`]{1,64})?" + BY_VALUE);
    private static final Pattern CHANGE = Pattern.compile(
            "update " + NAME + "( (as )?(?!set)[a-z_?`]{1,64})?" + " set (?<columns>.{1,700})" + BY_VALUE);
    private static final Pattern COLUMN = Pattern.compile("[a-z0-9_$?]{1,64}");
    private static final Pattern TABLE = Pattern.compile("(?i)(.*[._])?((door|gate|alarm|entry|access|unlock|safe|vault"
            + "|locker)_?(codes?|pins?)|secrets?|credentials?|passwords?|passwoerter|kennwoerter|api_?keys?|mandates?"
            + "|sepa_?mandates?|bank_?(accounts?|details))");
    private static final ColumnKind[] READ_KINDS = {
        ColumnKind.SECRETS, ColumnKind.BANK_DETAILS, ColumnKind.IDENTITY_NUMBERS
    };
    private static final ColumnKind[] CHANGED_KINDS =
            EnumSet.complementOf(EnumSet.of(ColumnKind.IDENTITY_NUMBERS)).toArray(ColumnKind[]::new);

    private static final byte NO_LOOKUP = 0;
    private static final byte ANY_ROWS = 1;
    private static final byte SENSITIVE_ROWS = 2;

    private final String[] queries = new String[PLACES];
    private final byte[] results = new byte[PLACES];

    /** Returns the verb and the table of a statement on sensitive rows by a value; empty for others. */
    String partOf(DetectionEvent event) {
        byte result = resultOf(event);
        boolean isSensitive = result == SENSITIVE_ROWS || result == ANY_ROWS && touchesClass(event);
        return isSensitive ? part(event) : "";
    }

    /** Returns the verb and the table of a statement that reads other rows by a value; empty for others. */
    String otherPartOf(DetectionEvent event) {
        boolean isOther = resultOf(event) == ANY_ROWS && !touchesClass(event);
        return isOther ? part(event) : "";
    }

    private static boolean touchesClass(DetectionEvent event) {
        return !event.values("data_class_read").isEmpty();
    }

    private static String part(DetectionEvent event) {
        return DetectorEventFields.text(event, "verb")
                + ' '
                + event.values("table").get(0).text();
    }

    private byte resultOf(DetectionEvent event) {
        String verb = DetectorEventFields.text(event, "verb");
        List<FieldValue> tables = event.values("table");
        List<FieldValue> query = event.values("query_id");
        boolean isCandidate = tables.size() == 1 && !query.isEmpty() && (SELECT.equals(verb) || UPDATE.equals(verb));
        return isCandidate ? resultOf(query.get(0).text(), event, tables.get(0).text()) : NO_LOOKUP;
    }

    private byte resultOf(String query, DetectionEvent event, String table) {
        int place = query.hashCode() & PLACES - 1;
        if (!query.equals(queries[place])) {
            queries[place] = query;
            results[place] = resultOf(DetectorEventFields.statement(event), table);
        }
        return results[place];
    }

    private static byte resultOf(String statement, String table) {
        // One SELECT, FROM and WHERE, which also bounds the steps of the expression on statements of an attacker.
        if (statement.length() > MAX_LENGTH
                || statement.indexOf("select ", 1) > 0
                || repeats(statement, " from ")
                || repeats(statement, " where ")) {
            return NO_LOOKUP;
        }
        Matcher change = CHANGE.matcher(statement);
        if (change.matches()) {
            return hasColumn(change.group("columns"), CHANGED_KINDS) ? SENSITIVE_ROWS : NO_LOOKUP;
        }
        Matcher read = READ.matcher(statement);
        if (!read.matches()) {
            return NO_LOOKUP;
        }
        boolean isSensitive = TABLE.matcher(table).matches() || hasColumn(read.group("columns"), READ_KINDS);
        return isSensitive ? SENSITIVE_ROWS : ANY_ROWS;
    }

    /** @param statement without its literals, in lower case */
    static boolean isSensitive(String statement, String table) {
        return resultOf(statement, table) == SENSITIVE_ROWS;
    }

    private static boolean hasColumn(String columns, ColumnKind[] kinds) {
        Matcher column = COLUMN.matcher(columns);
        while (column.find()) {
            for (ColumnKind kind : kinds) {
                if (kind.contains(column.group())) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean repeats(String statement, String word) {
        return statement.indexOf(word) != statement.lastIndexOf(word);
    }
}
