package io.tailrace.detection.detector.firstseen;

import io.tailrace.detection.detector.DetectorEventFields;
import io.tailrace.detection.event.DetectionEvent;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Recognizes statements that read, change or delete the rows of one table by one value: {@code SELECT name FROM clients WHERE
 * id = ?}. Administrators and people at a help desk run them about single cases. Not thread-safe.
 */
final class OneRowStatements {

    /** A longer statement has more conditions, characters. */
    private static final int MAX_LENGTH = 1_024;

    private static final String NAME = "[a-z0-9_.$?`]{1,130}";
    private static final Pattern ONE_ROW =
            Pattern.compile("(select [^()]{1,700} from |delete from |update (low_priority )?)"
                    + NAME + "( (as )?(?!where|set)[a-z_?`]{1,64})?( set [^()]{1,700})?" + " where " + NAME
                    + " ?= ?\\?( limit \\?)?( for update)?");
    private static final String YES = "y";

    private final UnaryOperator<String> shapes =
            new RecentShapes(statement -> ONE_ROW.matcher(statement).matches() ? YES : "");

    boolean isOne(DetectionEvent event) {
        String statement = DetectorEventFields.statement(event);
        return statement.length() <= MAX_LENGTH
                && statement.indexOf("select ", 1) < 0
                && !shapes.apply(statement).isEmpty();
    }
}
