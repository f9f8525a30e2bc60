package io.tailrace.cli.input;

import java.util.Optional;

/** Parses the first line of a slow or general log: {@code …, Version: 8.0.46 (MySQL …). started with:}. */
public final class ServerBanner {

    private static final String BEFORE = ", Version: ";
    private static final String AFTER = " started with:";

    private ServerBanner() {}

    /** Returns the server's version and flavour as in the banner. */
    public static Optional<String> version(String line) {
        int from = line.indexOf(BEFORE);
        int to = line.lastIndexOf(AFTER);
        if (from < 0 || to < from) {
            return Optional.empty();
        }
        String text = line.substring(from + BEFORE.length(), to);
        String flavour = text.replaceFirst("^(\\S+) \\((.*)\\)\\.?$", "$1 $2");
        return Optional.of(flavour.strip());
    }
}
