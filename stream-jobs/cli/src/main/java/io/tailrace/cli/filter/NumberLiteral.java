package io.tailrace.cli.filter;

import java.util.OptionalDouble;

/** Parses the numbers of filters. */
final class NumberLiteral {

    private NumberLiteral() {}

    /** Returns the number of a text; empty if it is not one. */
    static OptionalDouble number(String text) {
        return text.matches("-?(\\d{1,18}(\\.\\d{0,18})?|\\.\\d{1,18})")
                ? OptionalDouble.of(Double.parseDouble(text))
                : OptionalDouble.empty();
    }

    /** Returns seconds; the text may have one of the units us, ms, s, m and h. */
    static OptionalDouble seconds(String text) {
        int end = text.length();
        while (end > 0 && Character.isLetter(text.charAt(end - 1))) {
            end--;
        }
        double unit = unit(text.substring(end));
        OptionalDouble number = number(text.substring(0, end));
        return unit < 0 || number.isEmpty() ? OptionalDouble.empty() : OptionalDouble.of(number.getAsDouble() * unit);
    }

    private static double unit(String name) {
        return switch (name) {
            case "", "s" -> 1;
            case "us", "µs" -> 1e-6;
            case "ms" -> 1e-3;
            case "m" -> 60;
            case "h" -> 3_600;
            default -> -1;
        };
    }
}
