package io.tailrace.detection.match;

import io.tailrace.detection.event.CaseFolding;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds texts of which every match of a regular expression contains at least one. They serve the index, so it may find
 * none.
 */
final class RequiredLiterals {

    private static final List<String> UNKNOWN = List.of();
    /** With more alternatives, an index of rare texts becomes one of common texts. */
    private static final int MAX_COUNT = 64;

    private static final String CLASSES = "dDwWsSbBAz";
    /** Escapes that match between characters. */
    private static final String PLACES = "bBAz";

    private final String source;
    private int at;
    private boolean lost;

    private RequiredLiterals(String source) {
        this.source = source;
    }

    /** Returns folded texts; empty if none is certain. */
    static List<String> of(String source) {
        RequiredLiterals reader = new RequiredLiterals(source);
        List<String> texts = reader.alternatives().certain;
        return reader.lost || reader.at < source.length() || texts.size() > MAX_COUNT ? UNKNOWN : texts;
    }

    /**
     * The texts that a part of the expression matches.
     *
     * @param whole all texts that it matches; empty if they are too many
     * @param certain texts of which each match contains one; empty if none is certain
     */
    private record Part(List<String> whole, List<String> certain) {

        static final Part ANYTHING = new Part(UNKNOWN, UNKNOWN);
        static final Part NOTHING = new Part(List.of(""), UNKNOWN);

        static Part of(char c) {
            String text = String.valueOf(CaseFolding.fold(c));
            return new Part(List.of(text), List.of(text));
        }
    }

    /** Consecutive parts. */
    private static final class Sequence {

        private boolean exact = true;
        private List<String> certain = UNKNOWN;
        /** The texts that the latest adjacent parts match. */
        private List<String> run = List.of("");

        void add(Part part, Repetition repetition) {
            boolean known = !part.whole.isEmpty();
            if (known && repetition == Repetition.ONCE) {
                append(part.whole);
            } else if (known && repetition == Repetition.OPTIONAL) {
                List<String> orNot = new ArrayList<>(part.whole);
                orNot.add("");
                append(orNot);
            } else {
                interrupt(part, repetition);
            }
        }

        private void append(List<String> texts) {
            if (run.size() * texts.size() > MAX_COUNT) {
                end();
                run = texts;
                return;
            }
            List<String> longer = new ArrayList<>();
            for (String before : run) {
                texts.forEach(text -> longer.add(before + text));
            }
            run = longer;
        }

        private void interrupt(Part part, Repetition repetition) {
            boolean repeats = repetition == Repetition.REPEATED && !part.whole.isEmpty();
            if (repeats) {
                append(part.whole);
            }
            end();
            if (repetition == Repetition.ONCE || repetition == Repetition.REPEATED) {
                certain = rarer(certain, part.certain);
            }
            run = repeats ? part.whole : List.of("");
        }

        private void end() {
            exact = false;
            certain = rarer(certain, run);
        }

        Part part() {
            return new Part(exact ? run : UNKNOWN, rarer(certain, run));
        }

        private static List<String> rarer(List<String> best, List<String> other) {
            return rarity(other) > rarity(best) ? shortest(other) : best;
        }

        private static int rarity(List<String> texts) {
            return texts.stream().mapToInt(SelectivityEstimator::of).min().orElse(0);
        }

        /** Removes the texts that contain another one. */
        private static List<String> shortest(List<String> texts) {
            List<String> distinct = texts.stream().distinct().toList();
            return distinct.stream()
                    .filter(text -> distinct.stream().noneMatch(other -> text.contains(other) && !text.equals(other)))
                    .toList();
        }
    }

    /** How often a part occurs. */
    private enum Repetition {
        ONCE,
        OPTIONAL,
        ANY_NUMBER,
        /** At least once. */
        REPEATED
    }

    private boolean more() {
        return at < source.length() && !lost;
    }

    private boolean isAt(char c) {
        return more() && source.charAt(at) == c;
    }

    /** Nothing is certain if one alternative is unknown. */
    private Part alternatives() {
        Part union = sequence();
        while (isAt('|')) {
            at++;
            Part part = sequence();
            union = new Part(union(union.whole, part.whole), union(union.certain, part.certain));
        }
        return union;
    }

    private static List<String> union(List<String> some, List<String> others) {
        if (some.isEmpty() || others.isEmpty()) {
            return UNKNOWN;
        }
        List<String> union = new ArrayList<>(some);
        union.addAll(others);
        return union.size() <= MAX_COUNT ? union : UNKNOWN;
    }

    private Part sequence() {
        Sequence sequence = new Sequence();
        while (more() && source.charAt(at) != '|' && source.charAt(at) != ')') {
            Part part = source.charAt(at) == '(' ? group() : character();
            sequence.add(part, repetition());
        }
        return sequence.part();
    }

    private Part group() {
        at++;
        if (isAt('?')) {
            skipFlags();
        }
        Part part = alternatives();
        lost |= !isAt(')');
        at++;
        return part;
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

    private Part character() {
        char c = source.charAt(at++);
        if (c == '[') {
            skipClass();
            return Part.ANYTHING;
        }
        if (c == '\\') {
            return escaped();
        }
        if (c == '^' || c == '$') {
            return Part.NOTHING;
        }
        return c == '.' ? Part.ANYTHING : Part.of(c);
    }

    private Part escaped() {
        if (!more()) {
            lost = true;
            return Part.ANYTHING;
        }
        char escaped = source.charAt(at++);
        if (!Character.isLetterOrDigit(escaped)) {
            return Part.of(escaped);
        }
        lost |= CLASSES.indexOf(escaped) < 0;
        return PLACES.indexOf(escaped) < 0 ? Part.ANYTHING : Part.NOTHING;
    }

    private void skipClass() {
        int first = isAt('^') ? at + 1 : at;
        at = first;
        while (more() && (source.charAt(at) != ']' || at == first)) {
            // Nested classes and what \p, \x and \Q begin are not parsed.
            lost |= source.startsWith("[:", at) || source.startsWith("\\p", at) || source.startsWith("\\Q", at);
            at += source.charAt(at) == '\\' ? 2 : 1;
        }
        at++;
    }

    private Repetition repetition() {
        Repetition repetition = Repetition.ONCE;
        if (isAt('?')) {
            repetition = Repetition.OPTIONAL;
        } else if (isAt('*')) {
            repetition = Repetition.ANY_NUMBER;
        } else if (isAt('+')) {
            repetition = Repetition.REPEATED;
        } else if (isAt('{')) {
            int end = source.indexOf('}', at);
            lost |= end < 0 || !Character.isDigit(source.charAt(at + 1));
            repetition = source.startsWith("{0", at) ? Repetition.ANY_NUMBER : Repetition.REPEATED;
            at = Math.max(at, end);
        } else {
            return repetition;
        }
        at++;
        at += isAt('?') ? 1 : 0;
        return repetition;
    }
}
