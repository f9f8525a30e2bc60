package io.tailrace.detection.detector.volume;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Recognizes statements that take a part of one table by a range, a pattern, a remainder or a page only: {@code WHERE id
 * BETWEEN ? AND ?}, {@code WHERE name LIKE ?}, {@code WHERE MOD(id, ?) = ?}, {@code LIMIT ? OFFSET ?}. Executed with all
 * values, such a statement reads or deletes the whole table. Not thread-safe.
 */
final class RangeStatements {

    private static final Set<String> VERBS = Set.of("SELECT", "DELETE", "UPDATE");
    private static final int PLACES = 1 << 12;
    /** A longer statement has more conditions than those of a part. */
    private static final int MAX_LENGTH = 1_024;

    private static final String TABLE =
            "`?[a-z0-9_$?]+`?( ?\\. ?`?[a-z0-9_$?]+`?)?( as)?( (?!where|order|limit)`?[a-z_?]+`?)?";
    private static final String COLUMN = "\\(*[a-z0-9_?.`]+";
    private static final String COMPARED = " ?(>=|<=|=|>|<|<>|like|in) ?\\(?\\?\\+?\\)*";
    private static final String PART =
            "(" + COLUMN + " (not )?(like|regexp|rlike) ?\\?\\)*|" + COLUMN + " between \\? and \\?\\)*|"
                    + COLUMN + " ?(>=|<=|>|<) ?\\?\\)*|" + COLUMN + "\\)? ?(%|mod) ?\\?\\)*" + COMPARED
                    + "|\\(*[a-z0-9_?]+ ?\\([^()]*(\\([^()]*\\))?[^()]*\\)( ?(%|mod) ?\\?\\)*)?" + COMPARED + ")";
    private static final String PAGE = "( order by [a-z0-9_?`., ]+)?( limit ?\\?(, ?\\?| offset ?\\?)?)?";
    private static final Pattern RANGE = Pattern.compile(
            "(select .* from|delete (low_priority |quick |ignore )*from" + "|update (low_priority |ignore )*) ?" + TABLE
                    + "( set .*)? where " + PART + "( and " + PART + ")?( and " + PART + ")?" + PAGE);
    private static final Pattern PAGES = Pattern.compile(
            "select .* from " + TABLE + "( order by [a-z0-9_?`., ]+)? limit ?\\?(, ?\\?| offset ?\\?)?");
    private static final Pattern AGGREGATE = Pattern.compile("select (count|sum|avg|min|max)\\(.*");

    private final String[] queries = new String[PLACES];
    private final boolean[] ranges = new boolean[PLACES];

    /** Returns the verb and the first table of a statement on a part of a table; empty for others. */
    String partOf(DetectionEvent event) {
        String verb = DetectorEventFields.text(event, "verb");
        List<FieldValue> tables = event.values("table");
        List<FieldValue> query = event.values("query_id");
        if (!VERBS.contains(verb) || tables.isEmpty() || query.isEmpty()) {
            return "";
        }
        return isRange(query.get(0).text(), event) ? verb + ' ' + tables.get(0).text() : "";
    }

    private boolean isRange(String query, DetectionEvent event) {
        int place = query.hashCode() & PLACES - 1;
        if (!query.equals(queries[place])) {
            queries[place] = query;
            ranges[place] = isRange(DetectorEventFields.statement(event));
        }
        return ranges[place];
    }

    /** @param statement without its literals, in lower case */
    static boolean isRange(String statement) {
        boolean isShort = statement.length() <= MAX_LENGTH;
        if (!isShort || statement.indexOf("select ", 1) > 0 || statement.contains(" join ")) {
            return false;
        }
        // One FROM and one WHERE, which also bounds the steps of the expressions on statements of an attacker.
        if (repeats(statement, " from ") || repeats(statement, " where ")) {
            return false;
        }
        return (RANGE.matcher(statement).matches() || PAGES.matcher(statement).matches())
                && !AGGREGATE.matcher(statement).matches();
    }

    private static boolean repeats(String statement, String word) {
        return statement.indexOf(word) != statement.lastIndexOf(word);
    }
}
