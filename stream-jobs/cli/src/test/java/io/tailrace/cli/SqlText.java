package io.tailrace.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A statement as a list of tokens that a mutation replaces: white space, words, numbers, quoted texts, names and symbols.
 * A line comment, or a block comment without an end, is one token up to the end of the statement.
 */
record SqlText(List<String> tokens) {

    private static final Pattern TOKEN = Pattern.compile(
            "\\s+|--(\\s.*|$)|#.*|/\\*.*?\\*/|/\\*.*"
                    + "|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|@@?[\\w.]+|[A-Za-z_][\\w$]*|[0-9]\\w*(?:\\.\\d+)?|:=|<=>|<>|>=|<=|\\|\\||.");

    private static final Pattern WORD = Pattern.compile("[A-Za-z_][\\w$]*");
    private static final Pattern KEYWORD = Pattern.compile("[A-Z][A-Z_]+");

    static SqlText of(String sql) {
        List<String> tokens = new ArrayList<>();
        Matcher token = TOKEN.matcher(sql);
        while (token.find()) {
            tokens.add(token.group());
        }
        return new SqlText(tokens);
    }

    String sql() {
        return String.join("", tokens);
    }

    static boolean isBlank(String token) {
        return token.isBlank();
    }

    static boolean isWord(String token) {
        return WORD.matcher(token).matches();
    }

    /** Returns whether the token is a word in upper case: attacks are written with keywords in upper case. */
    static boolean isKeyword(String token) {
        return KEYWORD.matcher(token).matches();
    }

    static boolean isText(String token) {
        return token.startsWith("'");
    }

    /** Returns the places of tokens that satisfy a condition. */
    List<Integer> places(Predicate<String> wanted) {
        List<Integer> places = new ArrayList<>();
        for (int i = 0; i < tokens.size(); i++) {
            if (wanted.test(tokens.get(i))) {
                places.add(i);
            }
        }
        return places;
    }

    SqlText with(int place, String token) {
        List<String> changed = new ArrayList<>(tokens);
        changed.set(place, token);
        return SqlText.of(String.join("", changed));
    }

    /** Replaces each token. The result is not read again, so a comment may take the place of a blank. */
    String each(UnaryOperator<String> replacement) {
        StringBuilder sql = new StringBuilder();
        tokens.forEach(token -> sql.append(replacement.apply(token)));
        return sql.toString();
    }
}
