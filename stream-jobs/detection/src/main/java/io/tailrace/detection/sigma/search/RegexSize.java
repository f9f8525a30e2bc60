package io.tailrace.detection.sigma.search;

/**
 * Estimates the size of a regular expression after its counted repetitions are expanded: RE2/J accepts {@code
 * ((a{1000}){1000}){1000}} and runs out of memory.
 */
final class RegexSize {

    /** Maximum size in characters, which is about the largest number of states of the program. */
    static final long MAX_SIZE = 20_000;

    /** Maximum depth of nested groups, because RE2/J recurses into each. */
    private static final int MAX_DEPTH = 100;

    private final String source;
    private int at;

    private RegexSize(String source) {
        this.source = source;
    }

    /** Returns an upper bound of the size, or a number above {@link #MAX_SIZE}. */
    static long of(String source) {
        return new RegexSize(source).group(0);
    }

    /** Returns the size up to the closing parenthesis. */
    private long group(int depth) {
        long size = 0;
        while (at < source.length() && source.charAt(at) != ')' && size <= MAX_SIZE) {
            size += atom(depth) * repetitions();
        }
        return size;
    }

    private long atom(int depth) {
        char c = source.charAt(at++);
        if (c == '\\') {
            at++;
        } else if (c == '[') {
            skipClass();
        } else if (c == '(') {
            long size = depth > MAX_DEPTH ? MAX_SIZE + 1 : group(depth + 1);
            at++;
            return size + 2;
        }
        return 1;
    }

    private void skipClass() {
        int first = at < source.length() && source.charAt(at) == '^' ? at + 1 : at;
        at = first;
        while (at < source.length() && (source.charAt(at) != ']' || at == first)) {
            at += source.charAt(at) == '\\' ? 2 : 1;
        }
        at++;
    }

    /** Returns the largest count of the next {n}, {n,} or {n,m}; 1 if there is none. */
    private long repetitions() {
        if (at >= source.length() || source.charAt(at) != '{') {
            return 1;
        }
        long largest = 0;
        long number = 0;
        int i = at + 1;
        for (; i < source.length() && source.charAt(i) != '}'; i++) {
            char c = source.charAt(i);
            if (c != ',' && (c < '0' || c > '9')) {
                return 1;
            }
            number = c == ',' ? 0 : Math.min(MAX_SIZE, number * 10 + c - '0');
            largest = Math.max(largest, number);
        }
        at = i + 1;
        return Math.max(1, largest);
    }
}
