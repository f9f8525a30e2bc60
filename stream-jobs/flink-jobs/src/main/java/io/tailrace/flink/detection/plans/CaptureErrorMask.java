package io.tailrace.flink.detection.plans;

import io.tailrace.detection.taxonomy.RefusalCode;
import java.util.Set;

/**
 * Masks the error of a capture for readers who must not see literals. The collector writes the server's error number
 * before its message ({@code 1146: Table 'shop.x' doesn't exist}). Messages of the numbers below contain only names;
 * others may quote the statement.
 */
final class CaptureErrorMask {

    /**
     * Error numbers of MySQL and MariaDB besides refusals: timeout (1205, 1317, 1969, 3024), server unavailable (1040,
     * 1053, 1203, 1927, 2002, 2003, 2006, 2013), unknown database, column, table or function (1049, 1054, 1109, 1146,
     * 1305).
     */
    private static final Set<String> OF_NAMES_ONLY = Set.of(
            "1205", "1317", "1969", "3024", "1040", "1053", "1203", "1927", "2002", "2003", "2006", "2013", "1049",
            "1054", "1109", "1146", "1305");

    private static final int MAX_LENGTH = 500;

    private CaptureErrorMask() {}

    /** Returns the error, truncated before its first quote if that may start a literal. */
    static String shown(String error) {
        int colon = error.indexOf(':');
        boolean namesOnly = colon > 0 && hasNamesOnly(error.substring(0, colon));
        String safe = namesOnly ? error : beforeQuote(error);
        return safe.length() <= MAX_LENGTH ? safe : safe.substring(0, MAX_LENGTH) + " …";
    }

    private static boolean hasNamesOnly(String code) {
        return OF_NAMES_ONLY.contains(code) || RefusalCode.isRefusal(code);
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
