package io.tailrace.cli.filter;

import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.DoublePredicate;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Parses an expression: comparisons with {@code and}, {@code or}, {@code not} and parentheses. {@code and} binds more
 * strongly than {@code or}.
 */
final class FilterParser {

    private static final List<String> OPERATORS = List.of("<=", ">=", "!=", "!~", "=", "<", ">", "~");
    private static final int MAX_DEPTH = 100;

    private final String text;
    private int at;
    private int depth;

    FilterParser(String text) {
        this.text = text;
    }

    StatementFilter parse() throws FilterSyntaxException {
        StatementFilter filter = alternatives();
        skipBlanks();
        if (at < text.length()) {
            throw expected("and, or, or the end");
        }
        return filter;
    }

    private StatementFilter alternatives() throws FilterSyntaxException {
        StatementFilter filter = conditions();
        while (takeWord("or")) {
            StatementFilter first = filter;
            StatementFilter second = conditions();
            filter = (event, fingerprint) -> first.accepts(event, fingerprint) || second.accepts(event, fingerprint);
        }
        return filter;
    }

    private StatementFilter conditions() throws FilterSyntaxException {
        StatementFilter filter = condition();
        while (takeWord("and")) {
            StatementFilter first = filter;
            StatementFilter second = condition();
            filter = (event, fingerprint) -> first.accepts(event, fingerprint) && second.accepts(event, fingerprint);
        }
        return filter;
    }

    private StatementFilter condition() throws FilterSyntaxException {
        if (takeWord("not")) {
            StatementFilter refused = nested(false);
            return (event, fingerprint) -> !refused.accepts(event, fingerprint);
        }
        skipBlanks();
        if (at < text.length() && text.charAt(at) == '(') {
            at++;
            return nested(true);
        }
        return comparison();
    }

    private StatementFilter nested(boolean parenthesis) throws FilterSyntaxException {
        if (++depth > MAX_DEPTH) {
            throw expected("at most " + MAX_DEPTH + " nested conditions");
        }
        StatementFilter filter = parenthesis ? alternatives() : condition();
        skipBlanks();
        if (parenthesis && !take(")")) {
            throw expected("and, or, or )");
        }
        depth--;
        return filter;
    }

    private StatementFilter comparison() throws FilterSyntaxException {
        skipBlanks();
        int start = at;
        String name = word();
        FilterField field = FilterField.named(name).orElse(null);
        if (field == null) {
            at = start;
            throw expected("a field: " + FilterField.NAMES);
        }
        skipBlanks();
        String operator = OPERATORS.stream().filter(this::take).findFirst().orElse("");
        if (operator.isEmpty()) {
            throw expected("=, !=, <, <=, >, >=, ~ or !~");
        }
        skipBlanks();
        int valueFrom = at;
        String value = value();
        return field.isNumber() ? number(field, operator, value, valueFrom) : texts(field, operator, value, valueFrom);
    }

    private StatementFilter number(FilterField field, String operator, String value, int valueFrom)
            throws FilterSyntaxException {
        OptionalDouble number = field.isTime() ? NumberLiteral.seconds(value) : NumberLiteral.number(value);
        if (number.isEmpty()) {
            at = valueFrom;
            throw expected(field.isTime() ? "a time such as 1, 0.5 or 200ms" : "a number");
        }
        DoublePredicate test = test(operator, number.getAsDouble());
        if (test == null) {
            at = valueFrom;
            throw expected("=, !=, <, <=, > or >= for a number before the value");
        }
        return (event, fingerprint) -> test.test(field.number(event));
    }

    private static DoublePredicate test(String operator, double limit) {
        return switch (operator) {
            case "=" -> number -> number == limit;
            case "!=" -> number -> number != limit;
            case "<" -> number -> number < limit;
            case "<=" -> number -> number <= limit;
            case ">" -> number -> number > limit;
            case ">=" -> number -> number >= limit;
            default -> null;
        };
    }

    private StatementFilter texts(FilterField field, String operator, String value, int valueFrom)
            throws FilterSyntaxException {
        boolean negated = operator.startsWith("!");
        Predicate<String> test =
                switch (operator) {
                    case "=", "!=" -> value::equalsIgnoreCase;
                    case "~", "!~" -> pattern(value, valueFrom).asPredicate();
                    default -> ordered(operator, value, valueFrom);
                };
        return (event, fingerprint) -> negated != any(field.texts(event, fingerprint), test);
    }

    private static boolean any(List<String> texts, Predicate<String> test) {
        for (String text : texts) {
            if (test.test(text)) {
                return true;
            }
        }
        return false;
    }

    /** Header fields are texts that may be numbers. */
    private Predicate<String> ordered(String operator, String value, int valueFrom) throws FilterSyntaxException {
        OptionalDouble limit = NumberLiteral.number(value);
        if (limit.isEmpty()) {
            at = valueFrom;
            throw expected("a number after " + operator);
        }
        DoublePredicate test = test(operator, limit.getAsDouble());
        return text -> {
            OptionalDouble number = NumberLiteral.number(text);
            return number.isPresent() && test.test(number.getAsDouble());
        };
    }

    private Pattern pattern(String value, int valueFrom) throws FilterSyntaxException {
        try {
            return Pattern.compile(value, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE | Pattern.DOTALL);
        } catch (PatternSyntaxException e) {
            at = valueFrom;
            throw expected("a regular expression (" + e.getDescription().toLowerCase(Locale.ROOT) + ")");
        }
    }

    /**
     * Parses a quoted text, in which a doubled quote represents one, or everything up to the next blank or parenthesis.
     */
    private String value() throws FilterSyntaxException {
        if (at == text.length()) {
            throw expected("a value");
        }
        char quote = text.charAt(at);
        return quote == '\'' || quote == '"' ? quoted(quote) : bare();
    }

    private String quoted(char quote) throws FilterSyntaxException {
        StringBuilder value = new StringBuilder();
        at++;
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == quote) {
                if (at == text.length() || text.charAt(at) != quote) {
                    return value.toString();
                }
                at++;
            }
            value.append(c);
        }
        throw expected("the closing " + quote);
    }

    /** Parses an unquoted text, in which parentheses must match, as in {@code statement~(select|insert)}. */
    private String bare() throws FilterSyntaxException {
        int start = at;
        int open = 0;
        while (at < text.length() && !Character.isWhitespace(text.charAt(at)) && (open > 0 || text.charAt(at) != ')')) {
            char c = text.charAt(at++);
            open += c == '(' ? 1 : c == ')' ? -1 : 0;
        }
        if (at == start) {
            throw expected("a value");
        }
        return text.substring(start, at);
    }

    private String word() {
        int start = at;
        while (at < text.length() && isWord(text.charAt(at))) {
            at++;
        }
        return text.substring(start, at);
    }

    private static boolean isWord(char c) {
        return Character.isLetterOrDigit(c) || c == '_' || c == '.' || c == '-';
    }

    private boolean takeWord(String wanted) {
        skipBlanks();
        int start = at;
        if (word().equalsIgnoreCase(wanted)) {
            return true;
        }
        at = start;
        return false;
    }

    private boolean take(String wanted) {
        if (text.startsWith(wanted, at)) {
            at += wanted.length();
            return true;
        }
        return false;
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private FilterSyntaxException expected(String what) {
        int end = at;
        while (end < text.length() && !Character.isWhitespace(text.charAt(end)) && end < at + 30) {
            end++;
        }
        return new FilterSyntaxException(text, at, what, text.substring(Math.min(at, text.length()), end));
    }
}
