package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Recognizes statements that read, change or delete one row of a table by its key: {@code SELECT name FROM clients WHERE id = ?}.
 * Administrators and people at a help desk run them about single cases. Other columns, such as {@code tenant_id} or
 * {@code active}, select any number of rows. Not thread-safe.
 */
final class OneRowStatements {

    /** Follows the value of a table of a data class if a statement is about one row: another value than all of its rows. */
    static final String SUFFIX = " (one row)";

    /** A longer statement has more conditions, characters. */
    private static final int MAX_LENGTH = 1_024;

    /** One row, or the rows of one case; more were sent by something else. */
    private static final int MAX_ROWS = 100;

    private static final String KEY = "([a-z0-9_$?`]{1,64}\\.)?`?(id|uuid|guid|email|e_mail|"
            + "(customer|client|patient|guest|user|member|employee|staff|student|pupil|person|card|order|booking|reservation|"
            + "invoice|payment|visit|ticket)_?(id|no|nr|number|uuid))`?";
    private static final String NAME = "[a-z0-9_.$?`]{1,130}";
    private static final Pattern ONE_ROW =
            Pattern.compile("(select [^()]{1,700} from |delete from |update (low_priority )?)"
                    + NAME + "( (as )?(?!where|set)[a-z_?`]{1,64})?( set [^()]{1,700})?" + " where " + KEY
                    + " ?= ?\\?( limit \\?)?( for update)?");
    private static final String YES = "y";

    private final UnaryOperator<String> shapes =
            new RecentShapes(statement -> ONE_ROW.matcher(statement).matches() ? YES : "");

    boolean isOne(DetectionEvent event) {
        String statement = DetectorEventFields.statement(event);
        return statement.length() <= MAX_LENGTH
                && statement.indexOf("select ", 1) < 0
                && !hasMany(event, "rows_sent")
                && !hasMany(event, "rows_affected")
                && !shapes.apply(statement).isEmpty();
    }

    /** A number that the log does not contain is not many. */
    private static boolean hasMany(DetectionEvent event, String field) {
        return DetectorEventFields.number(event, field) > MAX_ROWS;
    }
}
