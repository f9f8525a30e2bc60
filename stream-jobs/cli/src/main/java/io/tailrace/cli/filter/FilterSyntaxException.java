package io.tailrace.cli.filter;

/** Reports an invalid filter: what was expected, what was found and where. */
public final class FilterSyntaxException extends Exception {

    private static final long serialVersionUID = 1;

    FilterSyntaxException(String expression, int position, String expected, String found) {
        super("at character " + (position + 1) + " expected " + expected + ", found "
                + (found.isEmpty() ? "the end" : found) + "\n  " + expression + "\n  " + " ".repeat(position) + "^");
    }
}
