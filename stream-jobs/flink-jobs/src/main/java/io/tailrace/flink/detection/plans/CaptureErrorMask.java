package io.tailrace.flink.detection.plans;

import java.util.Set;

/**
 * What of a capture's error may be shown to those who must not see literals. The collector writes the server's number
 * before its message ({@code 1146: Table 'shop.x' doesn't exist}): messages of the numbers below hold names only, others may
 * quote the statement.
 */
final class CaptureErrorMask {

    /**
     * MySQL's and MariaDB's: access refused (1044, 1045, 1142, 1143, 1227, 1345, 1356, 1370, 1698, 1820, 1862, 3118,
     * 4151), time over (1205, 1317, 1969, 3024), server away (1040, 1053, 1203, 1927, 2002, 2003, 2006, 2013), database,
     * column, table or function that does not exist (1049, 1054, 1109, 1146, 1305).
     */
    private static final Set<String> OF_NAMES_ONLY = Set.of(
            "1044", "1045", "1142", "1143", "1227", "1345", "1356", "1370", "1698", "1820", "1862", "3118", "4151",
            "1205", "1317", "1969", "3024", "1040", "1053", "1203", "1927", "2002", "2003", "2006", "2013", "1049",
            "1054", "1109", "1146", "1305");

    private static final int MAX_LENGTH = 500;

    private CaptureErrorMask() {}

    /** The error, cut before its first quote where that may open a literal. */
    static String shown(String error) {
        int colon = error.indexOf(':');
        boolean namesOnly = colon > 0 && OF_NAMES_ONLY.contains(error.substring(0, colon));
        String safe = namesOnly ? error : beforeQuote(error);
        return safe.length() <= MAX_LENGTH ? safe : safe.substring(0, MAX_LENGTH) + " …";
    }

    private static String beforeQuote(String error) {
        for (int i = 0; i < error.length(); i++) {
            if (error.charAt(i) == '\'' || error.charAt(i) == '"') {
                return error.substring(0, i) + "?";
            }
        }
        return error;
    }
}
