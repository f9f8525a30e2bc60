package io.tailrace.plan.advice;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Determines what a condition without literals compares. It uses patterns, not a grammar: a condition that they do
 * not match causes no advice.
 */
final class Predicates {

    private static final String NAME = "(?:`[^`]+`|[\\p{L}_$][\\p{L}\\p{N}_$]*)";
    /** {@code `db`.`t`.`c`}, {@code t.c}. */
    private static final String COLUMN = "(?:" + NAME + "\\.)?(" + NAME + ")\\.(" + NAME + ")";
    /** A literal, optionally with its type or character set, or a cached value. */
    private static final String VALUE = "(?:date|time|timestamp|_\\w+)?\\s?(?:\\?|<cache>)";

    private static final String OTHER = "(?:" + NAME + "\\.){1,2}" + NAME;

    private static final Pattern EQUAL = pattern(COLUMN + "\\s*(?:<=>|=)\\s*" + VALUE);
    private static final Pattern JOINED = pattern(COLUMN + "\\s*(?:<=>|=)\\s*" + OTHER);
    private static final Pattern JOINED_TO = pattern(OTHER + "\\s*(?:<=>|=)\\s*" + COLUMN);
    private static final Pattern IN = pattern(COLUMN + " in \\(\\s*\\?");
    private static final Pattern RANGE = pattern(COLUMN + "\\s*(?:<=|>=|<(?![=>])|>|between\\b|like\\b)\\s*" + VALUE);
    private static final Pattern FUNCTION =
            pattern("\\b(\\w+)\\(\\s*" + COLUMN + "[^()]*\\)\\s*(?:<=>|<=|>=|=|<|>|between\\b|like\\b|in\\b)");
    private static final Pattern ARITHMETIC =
            pattern("\\(" + COLUMN + "\\s*[-+*/]\\s*\\?\\)\\s*(?:<=|>=|=|<|>|between\\b)");
    private static final Pattern CONVERSION = pattern("\\b(?:cast|convert)\\(\\s*" + COLUMN + "\\s+(?:as|using)\\b");
    private static final Set<String> CONVERSIONS = Set.of("cast", "convert");
    /** Functions that the optimizer writes itself, and what MySQL prints like a function although it is not one. */
    private static final Set<String> NO_FUNCTIONS =
            Set.of("in", "and", "or", "not", "cache", "if", "trigcond", "match");

    /** Maximum number of characters of a condition that are inspected. */
    private static final int MAX_LENGTH = 16 << 10;

    private final String text;
    private final String alias;

    /**
     *
     * @param text a condition without literals
     * @param alias the table whose columns are searched for
     */
    Predicates(String text, String alias) {
        this.text = text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH);
        this.alias = alias;
    }

    private static Pattern pattern(String text) {
        return Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
    }

    /** Returns whether the condition contains alternatives. Each would need a separate index, so none is proposed. */
    boolean hasAlternatives() {
        return text.toLowerCase(Locale.ROOT).contains(" or ");
    }

    /** Returns the columns that must equal a literal. */
    Set<String> equal() {
        return columns(EQUAL, IN);
    }

    /** Returns the columns that must equal those of other tables. */
    Set<String> joined() {
        return columns(JOINED, JOINED_TO);
    }

    /** Returns the columns that must be in a range. */
    Set<String> ranges() {
        return columns(RANGE);
    }

    private Set<String> columns(Pattern... patterns) {
        Set<String> columns = new LinkedHashSet<>();
        for (Pattern pattern : patterns) {
            add(pattern, columns);
        }
        return columns;
    }

    private void add(Pattern pattern, Set<String> columns) {
        Matcher matcher = pattern.matcher(text);
        // Also finds overlapping matches: in a.x = b.y both sides are columns.
        for (int from = 0; matcher.find(from); from = matcher.start() + 1) {
            boolean startsWithin = matcher.start() > 0 && isOfName(text.charAt(matcher.start() - 1));
            if (!startsWithin && plain(matcher.group(1)).equalsIgnoreCase(alias)) {
                columns.add(plain(matcher.group(2)));
            }
        }
    }

    private static boolean isOfName(char c) {
        return Character.isLetterOrDigit(c) || c == '_' || c == '.' || c == '`' || c == '$';
    }

    /** Returns the compared functions of a column, such as {@code year(created)}. */
    List<String> functions() {
        List<String> found = new ArrayList<>();
        Matcher matcher = FUNCTION.matcher(text);
        while (matcher.find()) {
            String function = matcher.group(1);
            boolean known = NO_FUNCTIONS.contains(function) || CONVERSIONS.contains(function);
            if (!known && plain(matcher.group(2)).equalsIgnoreCase(alias)) {
                found.add(function + "(" + plain(matcher.group(3)) + ")");
            }
        }
        Matcher arithmetic = ARITHMETIC.matcher(text);
        while (arithmetic.find()) {
            if (plain(arithmetic.group(1)).equalsIgnoreCase(alias)) {
                found.add("arithmetic with " + plain(arithmetic.group(2)));
            }
        }
        return found;
    }

    /** Returns the columns that are converted. */
    Set<String> conversions() {
        Set<String> columns = new LinkedHashSet<>();
        Matcher matcher = CONVERSION.matcher(text);
        while (matcher.find()) {
            if (plain(matcher.group(1)).equalsIgnoreCase(alias)) {
                columns.add(plain(matcher.group(2)));
            }
        }
        return columns;
    }

    private static String plain(String name) {
        return name.replace("`", "");
    }
}
