package io.tailrace.cli.terminal;

/** Counts with their nouns in messages: {@code 1 rule}, {@code 2 rules}. */
public final class Plural {

    private Plural() {}

    /** Returns a number with its noun, whose plural ends with an s. */
    public static String of(long number, String noun) {
        return of(number, noun, noun + "s");
    }

    /** Returns a number with {@code one} if it is 1, otherwise with {@code many}. */
    public static String of(long number, String one, String many) {
        return number + " " + (number == 1 ? one : many);
    }
}
