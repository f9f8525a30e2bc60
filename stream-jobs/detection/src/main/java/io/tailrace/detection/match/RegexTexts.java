package io.tailrace.detection.match;

import io.tailrace.detection.event.CaseFolding;
import java.util.ArrayList;
import java.util.List;

/** Finds texts of which everything that a regular expression matches holds one: for the index, so it may know none. */
final class RegexTexts {

    private static final List<String> UNKNOWN = List.of();
    /** More alternatives make an index of rare texts one of common ones. */
    private static final int MOST = 64;

    private static final String CLASSES = "dDwWsSbBAz";

    private final String source;
    private int at;
    private boolean lost;

    private RegexTexts(String source) {
        this.source = source;
    }

    /** Folded texts; none where nothing is certain. */
    static List<String> of(String source) {
        RegexTexts reader = new RegexTexts(source);
        List<String> texts = reader.alternatives();
        return reader.lost || reader.at < source.length() || texts.size() > MOST ? UNKNOWN : texts;
    }

    private boolean more() {
        return at < source.length() && !lost;
    }

    private boolean isAt(char c) {
        return more() && source.charAt(at) == c;
    }

    /** One of the texts of every alternative; unknown where one has none. */
    private List<String> alternatives() {
        List<String> union = new ArrayList<>();
        boolean known = true;
        while (true) {
            List<String> texts = sequence();
            known &= !texts.isEmpty();
            union.addAll(texts);
            if (!isAt('|')) {
                return known ? union : UNKNOWN;
            }
            at++;
        }
    }

    /** The rarest of what stands one after the other. */
    private List<String> sequence() {
        List<String> best = UNKNOWN;
        StringBuilder run = new StringBuilder();
        while (more() && source.charAt(at) != '|' && source.charAt(at) != ')') {
            if (source.charAt(at) == '(') {
                best = rarer(best, List.of(run.toString()));
                run.setLength(0);
                List<String> group = group();
                best = repetition() == 0 ? best : rarer(best, group);
            } else {
                int c = character();
                int least = repetition();
                if (c >= 0 && least != 0) {
                    run.append(CaseFolding.fold((char) c));
                }
                if (c < 0 || least != 1) {
                    best = rarer(best, List.of(run.toString()));
                    run.setLength(0);
                }
            }
        }
        return rarer(best, List.of(run.toString()));
    }

    private static List<String> rarer(List<String> best, List<String> other) {
        return shortest(other) > shortest(best) ? other : best;
    }

    private static int shortest(List<String> texts) {
        return texts.stream().mapToInt(String::length).min().orElse(0);
    }

    private List<String> group() {
        at++;
        if (isAt('?')) {
            skipFlags();
        }
        List<String> texts = alternatives();
        lost |= !isAt(')');
        at++;
        return texts;
    }

    /** {@code (?i:}, {@code (?P<name>}, {@code (?i)}. */
    private void skipFlags() {
        while (more() && source.charAt(at) != ':' && source.charAt(at) != '>' && source.charAt(at) != ')') {
            at++;
        }
        if (more() && source.charAt(at) != ')') {
            at++;
        }
    }

    /** The character that must stand here, or a negative number. */
    private int character() {
        char c = source.charAt(at++);
        if (c == '[') {
            skipClass();
            return -1;
        }
        if (c != '\\') {
            return c == '.' || c == '^' || c == '$' ? -1 : c;
        }
        if (!more()) {
            lost = true;
            return -1;
        }
        char escaped = source.charAt(at++);
        boolean letter = Character.isLetterOrDigit(escaped);
        lost |= letter && CLASSES.indexOf(escaped) < 0;
        return letter ? -1 : escaped;
    }

    private void skipClass() {
        int first = isAt('^') ? at + 1 : at;
        at = first;
        while (more() && (source.charAt(at) != ']' || at == first)) {
            // Classes within classes and what \p, \x and \Q begin are not worth reading.
            lost |= source.startsWith("[:", at) || source.startsWith("\\p", at) || source.startsWith("\\Q", at);
            at += source.charAt(at) == '\\' ? 2 : 1;
        }
        at++;
    }

    /** How often what precedes must stand at least: 0, 1, or 2 for more or an unknown number from 1. */
    private int repetition() {
        int least = 1;
        if (isAt('?') || isAt('*')) {
            least = 0;
        } else if (isAt('+')) {
            least = 2;
        } else if (isAt('{')) {
            int end = source.indexOf('}', at);
            least = source.startsWith("{0", at) || end < 0 ? 0 : 2;
            at = end < 0 ? at : end;
        } else {
            return 1;
        }
        at++;
        at += isAt('?') ? 1 : 0;
        return least;
    }
}
