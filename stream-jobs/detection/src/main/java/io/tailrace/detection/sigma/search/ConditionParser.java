package io.tailrace.detection.sigma.search;

import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.yaml.RuleCompilationException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Parses a condition: {@code not} binds more strongly than {@code and}, which binds more strongly than {@code or};
 * {@code 1 of x*}, {@code all of x*}, {@code N of them}.
 */
final class ConditionParser {

    private static final Pattern TOKEN = Pattern.compile("[()|]|[^\\s()|]+");
    private static final Pattern COUNT = Pattern.compile("[0-9]{1,4}");
    private static final int MAX_DEPTH = 100;
    private static final String END = "";

    private final Map<String, Expression> searches;
    private final Function<String, RuleCompilationException> refusal;
    private final List<String> tokens = new ArrayList<>();
    private int at;
    private int depth;

    /** @param refusal creates the error from a reason */
    ConditionParser(
            String condition, Map<String, Expression> searches, Function<String, RuleCompilationException> refusal) {
        this.searches = searches;
        this.refusal = refusal;
        Matcher matcher = TOKEN.matcher(condition);
        while (matcher.find()) {
            tokens.add(matcher.group());
        }
    }

    Expression parse() {
        if (tokens.contains("|")) {
            throw refusal.apply("a condition with | aggregates, which correlation rules have replaced");
        }
        Expression expression = disjunction();
        if (!peek().equals(END)) {
            throw expected("and, or, or the condition's end");
        }
        return expression;
    }

    private Expression disjunction() {
        List<Expression> parts = new ArrayList<>(List.of(conjunction()));
        while (accept("or")) {
            parts.add(conjunction());
        }
        return Expression.any(parts);
    }

    private Expression conjunction() {
        List<Expression> parts = new ArrayList<>(List.of(negation()));
        while (accept("and")) {
            parts.add(negation());
        }
        return Expression.all(parts);
    }

    private Expression negation() {
        if (++depth > MAX_DEPTH) {
            throw refusal.apply("a condition is expected to be at most " + MAX_DEPTH + " levels deep");
        }
        Expression expression = accept("not") ? new Expression.Not(negation()) : operand();
        depth--;
        return expression;
    }

    private Expression operand() {
        if (accept("(")) {
            Expression inner = disjunction();
            if (!accept(")")) {
                throw expected("a closing parenthesis");
            }
            return inner;
        }
        String word = peek();
        if (word.equals(END) || word.equals(")")) {
            throw expected("the name of a search");
        }
        at++;
        return accept("of") ? selection(word) : search(word);
    }

    private Expression search(String name) {
        Expression search = searches.get(name);
        if (search == null) {
            throw refusal.apply("there is no search " + name + "; there are " + String.join(", ", searches.keySet()));
        }
        return search;
    }

    private Expression selection(String quantifier) {
        String pattern = peek();
        at++;
        List<Expression> parts = named(pattern);
        if (parts.isEmpty()) {
            throw refusal.apply(
                    "no search is named like " + pattern + "; there are " + String.join(", ", searches.keySet()));
        }
        return switch (quantifier.toLowerCase(Locale.ROOT)) {
            case "all" -> Expression.all(parts);
            case "any", "1" -> Expression.any(parts);
            default -> counted(quantifier, parts);
        };
    }

    private Expression counted(String quantifier, List<Expression> parts) {
        int count = COUNT.matcher(quantifier).matches() ? Integer.parseInt(quantifier) : 0;
        if (count < 1 || count > parts.size()) {
            throw refusal.apply(
                    "expected all, any or a number from 1 to " + parts.size() + " before of, found " + quantifier);
        }
        return new Expression.AtLeast(count, parts);
    }

    /** Only patterns that begin with an underscore match searches whose names begin with one. */
    private List<Expression> named(String pattern) {
        Pattern names = Pattern.compile(Arrays.stream(("them".equals(pattern) ? "*" : pattern).split("\\*", -1))
                .map(Pattern::quote)
                .collect(Collectors.joining(".*")));
        return searches.entrySet().stream()
                .filter(search -> pattern.startsWith("_") || !search.getKey().startsWith("_"))
                .filter(search -> names.matcher(search.getKey()).matches())
                .map(Map.Entry::getValue)
                .toList();
    }

    private String peek() {
        return at < tokens.size() ? tokens.get(at) : END;
    }

    private boolean accept(String word) {
        boolean found = peek().equalsIgnoreCase(word);
        at += found ? 1 : 0;
        return found;
    }

    private RuleCompilationException expected(String what) {
        String found = peek().equals(END) ? "its end" : peek();
        return refusal.apply("the condition is expected to have " + what + ", found " + found);
    }
}
