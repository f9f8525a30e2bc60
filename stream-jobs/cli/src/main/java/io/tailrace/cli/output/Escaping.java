package io.tailrace.cli.output;

/** Escapes text so that a record of the output stays one line. */
public final class Escaping {

    private Escaping() {}

    /** Escapes backslashes, line breaks and tabs. */
    public static String oneLine(String text) {
        return text.replace("\\", "\\\\")
                .replace("\n", "\\n")
                .replace("\r", "\\r")
                .replace("\t", "\\t");
    }
}
