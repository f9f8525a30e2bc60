package io.tailrace.cli.digest.aggregate;

import io.tailrace.fingerprint.Fingerprinter;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** Statements that show what a class looks like. */
public final class ExampleStatement {

    /** Longest statement that is kept as it is, characters; a longer one is cut there. */
    static final int MAX_LENGTH = 4 << 10;

    /** Four values or more, two of which are enough to see. */
    private static final Pattern VALUES = Pattern.compile("\\?(?:\\s*,\\s*\\?){3,}+");

    private static final Pattern ROWS = Pattern.compile("(\\([^()]{1,200}\\))(?:\\s*,\\s*\\1){2,}+");

    private final Fingerprinter fingerprinter = new Fingerprinter();

    /** What is kept of a statement until the report is written. */
    static String kept(String statement) {
        return statement.length() <= MAX_LENGTH ? statement : statement.substring(0, MAX_LENGTH);
    }

    /** The statement without its literals, long lists shortened; empty where it was cut: its class tells more then. */
    public String masked(String statement) {
        if (isCut(statement)) {
            return "";
        }
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        String masked = fingerprinter.masked(bytes, 0, bytes.length);
        String values = VALUES.matcher(masked).replaceAll("?, ?, …");
        return ROWS.matcher(values).replaceAll("$1, $1, …");
    }

    /** The statement as it was logged. */
    public static String unmasked(String statement) {
        return isCut(statement) ? statement + "…" : statement;
    }

    private static boolean isCut(String statement) {
        return statement.length() == MAX_LENGTH;
    }
}
