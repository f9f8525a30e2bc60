package io.tailrace.detection.match;

import io.tailrace.detection.event.CaseFolding;
import io.tailrace.detection.event.FieldValue;
import java.util.Arrays;
import java.util.List;

/**
 * Matches a complete value against a text with wildcards. Ignores case unless it is cased.
 *
 * <p>Tokens are characters, or one of the negative constants.
 */
public final class WildcardMatcher implements ValueMatcher {

    /** {@code *}: any characters, or none. */
    public static final int ANY = -1;
    /** {@code ?}: one character. */
    public static final int ONE = -2;
    /** A dash or slash before an option: {@code -}, {@code /}, en dash, em dash or horizontal bar. */
    public static final int DASH = -3;

    private enum Shape {
        EQUAL,
        PREFIX,
        SUFFIX,
        INFIX,
        GLOB
    }

    private final int[] tokens;
    private final boolean cased;
    private final Shape shape;
    /** The longest run of characters; the complete text unless the shape is a glob. */
    private final String run;

    public WildcardMatcher(int[] tokens, boolean cased) {
        this.tokens = cased ? tokens.clone() : fold(tokens);
        this.cased = cased;
        this.run = longestRun();
        this.shape = shape();
    }

    private static int[] fold(int[] tokens) {
        return Arrays.stream(tokens)
                .map(token -> token < 0 ? token : CaseFolding.fold((char) token))
                .toArray();
    }

    private String longestRun() {
        int bestFrom = 0;
        int bestTo = 0;
        int from = 0;
        for (int i = 0; i <= tokens.length; i++) {
            if (i == tokens.length || tokens[i] < 0) {
                if (i - from > bestTo - bestFrom) {
                    bestFrom = from;
                    bestTo = i;
                }
                from = i + 1;
            }
        }
        return new String(tokens, bestFrom, bestTo - bestFrom);
    }

    private Shape shape() {
        boolean before = tokens.length > 0 && tokens[0] == ANY;
        boolean after = tokens.length > 1 && tokens[tokens.length - 1] == ANY;
        if (run.length() + (before ? 1 : 0) + (after ? 1 : 0) != tokens.length) {
            return Shape.GLOB;
        }
        if (before) {
            return after ? Shape.INFIX : Shape.SUFFIX;
        }
        return after ? Shape.PREFIX : Shape.EQUAL;
    }

    @Override
    public boolean test(FieldValue value) {
        String text = cased ? value.text() : value.folded();
        return switch (shape) {
            case EQUAL -> text.equals(run);
            case PREFIX -> text.startsWith(run);
            case SUFFIX -> text.endsWith(run);
            case INFIX -> text.contains(run);
            case GLOB -> glob(text);
        };
    }

    /** Backtracking to the last {@code *} suffices: at most length of text times length of pattern. */
    private boolean glob(String text) {
        int at = 0;
        int token = 0;
        int star = -1;
        int starAt = 0;
        while (at < text.length()) {
            int step = token < tokens.length ? step(tokens[token], text, at) : 0;
            if (token < tokens.length && tokens[token] == ANY) {
                star = token++;
                starAt = at;
            } else if (step > 0) {
                at += step;
                token++;
            } else if (star >= 0) {
                token = star + 1;
                at = ++starAt;
            } else {
                return false;
            }
        }
        while (token < tokens.length && tokens[token] == ANY) {
            token++;
        }
        return token == tokens.length;
    }

    /** Returns how many chars of the text the token matches; 0 if it does not match. */
    private static int step(int token, String text, int at) {
        return switch (token) {
            case ANY -> 0;
            case ONE -> Character.charCount(text.codePointAt(at));
            case DASH -> isDash(text.charAt(at)) ? 1 : 0;
            default -> text.charAt(at) == token ? 1 : 0;
        };
    }

    private static boolean isDash(char c) {
        return c == '-' || c == '/' || c >= '\u2013' && c <= '\u2015';
    }

    @Override
    public List<Literal> literals() {
        boolean whole = shape == Shape.EQUAL;
        return whole || !run.isEmpty() ? List.of(new Literal(CaseFolding.fold(run), whole)) : List.of();
    }
}
