package io.tailrace.cli.digest.aggregate;

import io.tailrace.fingerprint.Fingerprinter;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** Formats the example statement of a class. */
public final class ExampleStatement {

    /** Maximum length of a stored statement in characters; a longer one is truncated. */
    static final int MAX_LENGTH = 4 << 10;

    /** Four or more values, of which two suffice. */
    private static final Pattern VALUES = Pattern.compile("\\?(?:\\s*,\\s*\\?){3,}+");

    private static final Pattern ROWS = Pattern.compile("(\\([^()]{1,200}\\))(?:\\s*,\\s*\\1){2,}+");

    private final Fingerprinter fingerprinter = new Fingerprinter();

    /** Returns the part of a statement that is stored until the report is written. */
    static String kept(String statement) {
        return statement.length() <= MAX_LENGTH ? statement : statement.substring(0, MAX_LENGTH);
    }

    /**
     * Returns the statement without its literals and with shortened lists; empty if it was truncated, because its
     * fingerprint is then more useful.
     */
    public String masked(String statement) {
        if (isCut(statement)) {
            return "";
        }
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        String masked = fingerprinter.masked(bytes, 0, bytes.length);
        String values = VALUES.matcher(masked).replaceAll("?, ?, …");
        return ROWS.matcher(values).replaceAll("$1, $1, …");
    }

    /** Returns the statement as it was logged. */
    public static String unmasked(String statement) {
        return isCut(statement) ? statement + "…" : statement;
    }

    private static boolean isCut(String statement) {
        return statement.length() == MAX_LENGTH;
    }
}
