package io.tailrace.fingerprint;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Recognizes the statements that Percona's tools mark with a {@link io.tailrace.fingerprint.comment.ToolComment}: a checksum of the rows of one table, or
 * of a chunk of it. Any client can write the comment, so nothing else may be part of them.
 */
final class ChecksumStatement {

    private static final Pattern QUOTED = Pattern.compile("`[^`]*`");

    /** In a masked text in lower case whose quoted names are {@code n}. */
    private static final Pattern SHAPE =
            Pattern.compile("(?:replace into [\\w.]+ ?\\([\\w ,]+\\) select \\?, \\?, \\? as chunk_num"
                    + ", \\?(?: as boundaries)?|select \\? as chunk_num), count\\(\\*\\) as cnt, ([^;@]*bit_xor\\([^;@]*) as crc"
                    + " from [\\w.]+(?: (?:use|force) index ?\\([\\w ,]+\\))?(?: where ([^;@]*))?");

    private static final Pattern WORD =
            Pattern.compile("[\\w$.\\x{80}-\\x{ffff}]+(?= ?\\()|\\b(?:select|table|values|into)\\b");

    private static final Set<String> FUNCTIONS = Set.of(
            "coalesce",
            "lower",
            "conv",
            "bit_xor",
            "cast",
            "crc32",
            "concat",
            "concat_ws",
            "isnull",
            "md5",
            "sha1",
            "fnv_64",
            "fnv1a_64",
            "murmur_hash",
            "substring",
            "lpad",
            "and",
            "or");

    private ChecksumStatement() {}

    /** @param text masked, in lower case */
    static boolean matches(String text) {
        Matcher statement = SHAPE.matcher(QUOTED.matcher(text).replaceAll("n"));
        if (!statement.matches()) {
            return false;
        }
        String where = statement.group(2);
        return isOneValue(statement.group(1)) && callsNothingElse(where == null ? "" : where);
    }

    private static boolean isOneValue(String list) {
        int depth = 0;
        for (char c : list.toCharArray()) {
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (depth < 0 || depth == 0 && c == ',') {
                return false;
            }
        }
        return callsNothingElse(list);
    }

    private static boolean callsNothingElse(String expression) {
        return WORD.matcher(expression).results().allMatch(word -> FUNCTIONS.contains(word.group()));
    }
}
