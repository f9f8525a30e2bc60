package io.tailrace.reassembly;

/**
 * Identity of a log: all files that one server wrote under one name, including the rotated ones.
 *
 * @param instance name of the server
 * @param source kind of log, such as {@code slowlog} or {@code audit}
 * @param log canonical path, see {@link #canonicalPath}
 */
public record LogId(String instance, String source, String log) {

    private static final char SEPARATOR = '\u001f';
    private static final int MAX_ROTATION_DIGITS = 6;
    private static final int DATE_DIGITS = 8;
    private static final int TIME_DIGITS = 6;

    /** Returns the log of a file. */
    public static LogId of(String instance, String source, String path) {
        return new LogId(instance, source, canonicalPath(path));
    }

    /** Parses the result of {@link #toKey}; throws {@link IllegalArgumentException} for any other text. */
    public static LogId fromKey(String key) {
        int first = key.indexOf(SEPARATOR);
        int second = key.indexOf(SEPARATOR, first + 1);
        if (first < 0 || second < 0) {
            throw new IllegalArgumentException("a log's key has three parts, found: " + key);
        }
        return new LogId(key.substring(0, first), key.substring(first + 1, second), key.substring(second + 1));
    }

    /** Returns the three parts joined by U+001F: the key of keyed state and of Kafka records. */
    public String toKey() {
        return instance + SEPARATOR + source + SEPARATOR + log;
    }

    /**
     * Returns a path without the suffixes of rotation: {@code .N} of one to six digits, {@code -YYYYMMDD} with an
     * optional {@code HHMMSS} or {@code -N…} (logrotate's dateext), {@code .gz} and {@code .old}, repeatedly. A
     * suffix that is the whole file name is kept.
     */
    public static String canonicalPath(String path) {
        int end = path.length();
        for (int cut = suffixStart(path, end); cut < end; cut = suffixStart(path, end)) {
            end = cut;
        }
        return path.substring(0, end);
    }

    private static int suffixStart(String path, int end) {
        int cut = end;
        if (path.startsWith(".gz", end - 3)) {
            cut = end - 3;
        } else if (path.startsWith(".old", end - 4)) {
            cut = end - 4;
        } else {
            cut = numberedSuffixStart(path, end);
        }
        boolean namesAFile = cut > 0 && path.charAt(cut - 1) != '/';
        return namesAFile ? cut : end;
    }

    private static int numberedSuffixStart(String path, int end) {
        int digits = digitsBefore(path, end);
        int start = end - digits;
        if (digits == 0 || start == 0) {
            return end;
        }
        char mark = path.charAt(start - 1);
        if (mark == '.') {
            return digits <= MAX_ROTATION_DIGITS ? start - 1 : end;
        }
        if (mark != '-') {
            return end;
        }
        if (isDate(path, start, digits)) {
            return start - 1;
        }
        int dateDigits = digitsBefore(path, start - 1);
        int dateStart = start - 1 - dateDigits;
        boolean dateBefore = dateStart > 0 && path.charAt(dateStart - 1) == '-' && isDate(path, dateStart, dateDigits);
        return dateBefore ? dateStart - 1 : end;
    }

    /** Returns whether the digits are {@code YYYYMMDD} or {@code YYYYMMDDHHMMSS} of this or the last century. */
    private static boolean isDate(String path, int start, int digits) {
        boolean length = digits == DATE_DIGITS || digits == DATE_DIGITS + TIME_DIGITS;
        return length && (path.startsWith("19", start) || path.startsWith("20", start));
    }

    private static int digitsBefore(String path, int end) {
        int start = end;
        while (start > 0 && path.charAt(start - 1) >= '0' && path.charAt(start - 1) <= '9') {
            start--;
        }
        return end - start;
    }
}
