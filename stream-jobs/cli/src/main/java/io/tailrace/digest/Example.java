package io.tailrace.digest;

import io.tailrace.fingerprint.Fingerprinter;
import java.nio.charset.StandardCharsets;

/** Statements that show what a class looks like. */
final class Example {

    /** Longest statement that is kept as it is, characters; a longer one is cut there. */
    static final int LONGEST = 4 << 10;

    private final Fingerprinter fingerprinter = new Fingerprinter();

    /** What is kept of a statement until the report is written. */
    static String kept(String statement) {
        return statement.length() <= LONGEST ? statement : statement.substring(0, LONGEST);
    }

    /** The statement without its literals, its lists as long as they were; empty where none may be shown. */
    String masked(String statement) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        return fingerprinter.masked(bytes, 0, bytes.length);
    }
}
