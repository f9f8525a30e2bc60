package io.tailrace.errorlog;

import io.tailrace.lexer.ByteText;
import java.util.Locale;

/** The levels of messages, with the spellings of all servers. */
final class Levels {

    private Levels() {}

    static boolean isLevel(byte[] bytes, int from, int to) {
        return to - from <= 11 && !named(ByteText.utf8(bytes, from, to)).isEmpty();
    }

    /** Returns System, Error, Warning or Note; empty if the text is not a level. */
    static String named(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "system" -> "System";
            case "error" -> "Error";
            case "warning", "warn" -> "Warning";
            case "note", "info", "information", "debug", "trace" -> "Note";
            default -> "";
        };
    }
}
