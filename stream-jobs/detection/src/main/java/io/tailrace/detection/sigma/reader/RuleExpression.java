package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.sigma.yaml.RuleCompilationException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses the condition of a temporal correlation that is an expression over rules, such as {@code a and (b or c)}.
 *
 * <p>The result has one set of rules for each way to meet the condition. {@code not} is refused: whether a rule has not
 * matched is only known when its window has ended, which Sigma does not define for events that arrive late.
 */
final class RuleExpression {

    private static final Pattern TOKEN = Pattern.compile("[()]|[^\\s()]+");
    private static final Set<String> WORDS = Set.of("and", "or", "not", "of", ")", "");
    /** Maximum number of alternatives, and of levels of parentheses. */
    private static final int MAX = 64;

    private final Function<String, RuleCompilationException> refusal;
    private final List<String> tokens = new ArrayList<>();
    private int at;
    private int depth;

    /** @param refusal creates the error from a reason */
    RuleExpression(String condition, Function<String, RuleCompilationException> refusal) {
        this.refusal = refusal;
        Matcher matcher = TOKEN.matcher(condition);
        while (matcher.find()) {
            tokens.add(matcher.group());
        }
    }

    /** Returns the sets of rules, as written, of which one must have matched completely; none contains another one. */
    List<Set<String>> alternatives() {
        List<Set<String>> found = disjunction();
        if (at < tokens.size()) {
            throw refusal.apply("the condition is expected to have and, or, or its end, found " + tokens.get(at));
        }
        return found;
    }

    private List<Set<String>> disjunction() {
        List<Set<String>> found = new ArrayList<>(conjunction());
        while (accept("or")) {
            found.addAll(conjunction());
        }
        return simplified(found);
    }

    private List<Set<String>> conjunction() {
        List<Set<String>> found = operand();
        while (accept("and")) {
            List<Set<String>> both = new ArrayList<>();
            for (Set<String> right : operand()) {
                for (Set<String> left : found) {
                    Set<String> union = new LinkedHashSet<>(left);
                    union.addAll(right);
                    both.add(union);
                }
            }
            found = simplified(both);
        }
        return found;
    }

    private List<Set<String>> operand() {
        if (accept("(")) {
            if (++depth > MAX) {
                throw refusal.apply("a condition is expected to be at most " + MAX + " levels deep");
            }
            List<Set<String>> inner = disjunction();
            if (!accept(")")) {
                throw refusal.apply("the condition is expected to have a closing parenthesis");
            }
            depth--;
            return inner;
        }
        String word = at < tokens.size() ? tokens.get(at) : "";
        if (word.equalsIgnoreCase("not")) {
            throw refusal.apply("a correlation cannot require that a rule has not matched");
        }
        if (WORDS.contains(word.toLowerCase(Locale.ROOT))) {
            throw refusal.apply("the condition is expected to have the name of a rule, found "
                    + (word.isEmpty() ? "its end" : word));
        }
        at++;
        return List.of(Set.of(word));
    }

    /** Drops each set that contains another one. */
    private List<Set<String>> simplified(List<Set<String>> sets) {
        List<Set<String>> kept = new ArrayList<>();
        for (Set<String> set : sets) {
            if (kept.stream().noneMatch(set::containsAll)) {
                kept.removeIf(other -> other.containsAll(set));
                kept.add(set);
            }
        }
        if (kept.size() > MAX) {
            throw refusal.apply("a condition over rules is expected to have at most " + MAX + " alternatives");
        }
        return kept;
    }

    private boolean accept(String word) {
        boolean found = at < tokens.size() && tokens.get(at).equalsIgnoreCase(word);
        at += found ? 1 : 0;
        return found;
    }
}
