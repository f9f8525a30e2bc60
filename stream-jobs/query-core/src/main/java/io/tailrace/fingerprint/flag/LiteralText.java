package io.tailrace.fingerprint.flag;

import io.tailrace.fingerprint.token.ConditionTokens;
import io.tailrace.fingerprint.token.ConditionTokens.Kind;
import io.tailrace.fingerprint.token.StatementText;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Computes the text that functions assemble from literals: {@code CONCAT('DR', 'OP')}, {@code REVERSE('PORD')}, {@code
 * CHAR(68, 82)}, {@code UNHEX('4452')}, {@code FROM_BASE64('RFI=')}, and reads literals with their escapes. Not
 * thread-safe.
 */
final class LiteralText {

    private static final Set<String> FUNCTIONS = Set.of(
            "concat",
            "concat_ws",
            "reverse",
            "unhex",
            "char",
            "from_base64",
            "lower",
            "upper",
            "trim",
            "replace",
            "cast",
            "convert");
    /** Functions whose first argument is the value, and the rest its type. */
    private static final Set<String> CONVERSIONS = Set.of("cast", "convert");

    private static final Set<String> DECODING = Set.of("reverse", "unhex", "char", "from_base64");
    /** Length of a text or a function's value; longer ones are cut. */
    private static final int MAX_LENGTH = 4096;

    private static final int MAX_DEPTH = 4;
    private static final int MAX_ARGUMENTS = 256;

    private final ConditionTokens tokens;
    private final SqlMode mode;
    private boolean complete;
    private boolean coded;
    private boolean decoded;
    /** Length of the arguments that were read, or of the values of their functions where these are longer. */
    private int length;

    LiteralText(ConditionTokens tokens, SqlMode mode) {
        this.tokens = tokens;
        this.mode = mode;
    }

    /** Returns whether the current token is the name of such a function. */
    boolean isFunction() {
        return tokens.kind() == Kind.NAME && FUNCTIONS.contains(name());
    }

    /** Returns whether the latest text consists of literals only; otherwise it is what precedes something else. */
    boolean isComplete() {
        return complete;
    }

    /** Returns whether the latest text contains hexadecimal digits. */
    boolean isCoded() {
        return coded;
    }

    /** Returns whether the latest text was written in codes, other digits or backwards. */
    boolean isDecoded() {
        return decoded;
    }

    /** Returns whether the current token is the character set of the literal that follows it. */
    boolean isCharacterSet() {
        return tokens.kind() == Kind.NAME && tokens.bytes()[tokens.from()] == '_';
    }

    /** Reads the literals at the current token, which servers join, and returns their text. */
    String literals() {
        complete = true;
        coded = false;
        decoded = false;
        StringBuilder text = new StringBuilder();
        while ((tokens.kind() == Kind.TEXT || tokens.kind() == Kind.CODED) && text.length() < MAX_LENGTH) {
            text.append(literal());
            tokens.next();
        }
        return text.substring(0, Math.min(text.length(), MAX_LENGTH));
    }

    private String literal() {
        int quote = tokens.from();
        while (tokens.kind() == Kind.CODED && quote < tokens.end() && tokens.bytes()[quote] != '\'') {
            quote++;
        }
        byte first = ByteText.lower(tokens.bytes()[tokens.from()]);
        if (tokens.kind() == Kind.TEXT || (first == 'n' || first == '_') && quote < tokens.end()) {
            return StatementText.decoded(text(quote + 1, tokens.end() - 1), tokens.bytes()[quote], mode);
        }
        coded = true;
        return decoded(text(tokens.from(), tokens.end()));
    }

    /** Reads the function at the current token and returns its value, or the part of it that literals determine. */
    String read() {
        complete = true;
        coded = false;
        decoded = false;
        length = 0;
        return function(0);
    }

    private String name() {
        return text(tokens.from(), tokens.end()).toLowerCase(Locale.ROOT);
    }

    private String text(int from, int end) {
        return ByteText.utf8(tokens.bytes(), from, Math.max(from, Math.min(end, from + MAX_LENGTH)));
    }

    private String function(int depth) {
        String name = name();
        tokens.next();
        int before = length;
        List<String> arguments = new ArrayList<>();
        boolean open = tokens.kind() == Kind.OPEN;
        complete &= open;
        while (open && complete && arguments.size() < MAX_ARGUMENTS && length < MAX_LENGTH) {
            tokens.next();
            argument(arguments, depth);
            if (CONVERSIONS.contains(name)) {
                skipType();
            }
            open = tokens.isComma();
        }
        complete &= tokens.kind() == Kind.CLOSE;
        if (complete) {
            tokens.next();
        }
        decoded |= DECODING.contains(name);
        String value = cut(value(name, arguments));
        length = Math.max(length, before + value.length());
        return value;
    }

    /** Nested functions multiply the length of their arguments, so none may return more than the limit. */
    private static String cut(String value) {
        return value.substring(0, Math.min(value.length(), MAX_LENGTH));
    }

    private void skipType() {
        int depth = 0;
        while (tokens.kind() != Kind.END && (depth > 0 || tokens.kind() != Kind.CLOSE)) {
            depth += tokens.kind() == Kind.OPEN ? 1 : tokens.kind() == Kind.CLOSE ? -1 : 0;
            tokens.next();
        }
    }

    private void argument(List<String> arguments, int depth) {
        if (isCharacterSet()) {
            tokens.next();
        }
        if (isFunction() && depth < MAX_DEPTH) {
            arguments.add(function(depth + 1));
            return;
        }
        switch (tokens.kind()) {
            case TEXT, CODED -> joined(arguments);
            case NUMBER -> add(arguments, text(tokens.from(), tokens.end()));
            default -> complete = false;
        }
    }

    private void joined(List<String> arguments) {
        boolean before = coded;
        boolean decodedBefore = decoded;
        String argument = literals();
        coded |= before;
        decoded = decodedBefore;
        length += argument.length() + 1;
        arguments.add(argument);
    }

    private void add(List<String> arguments, String argument) {
        length += argument.length() + 1;
        arguments.add(argument);
        tokens.next();
    }

    private static String value(String name, List<String> arguments) {
        String first = arguments.isEmpty() ? "" : arguments.get(0);
        return switch (name) {
            case "reverse" -> new StringBuilder(first).reverse().toString();
            case "cast", "convert" -> first;
            case "replace" -> arguments.size() == 3 && !arguments.get(1).isEmpty()
                    ? replaced(first, arguments.get(1), arguments.get(2))
                    : first;
            case "unhex" -> decoded("0x" + first);
            case "from_base64" -> base64(first);
            case "char" -> characters(arguments);
            case "concat_ws" -> joined(first, arguments.subList(Math.min(1, arguments.size()), arguments.size()));
            default -> joined("", arguments);
        };
    }

    /** Replaces until the result exceeds the limit. */
    private static String replaced(String text, String from, String to) {
        StringBuilder result = new StringBuilder();
        int copied = 0;
        int found = text.indexOf(from);
        while (found >= 0 && result.length() <= MAX_LENGTH) {
            result.append(text, copied, found).append(to);
            copied = found + from.length();
            found = text.indexOf(from, copied);
        }
        return result.append(text, copied, text.length()).toString();
    }

    /** Joins texts until the result exceeds the limit. */
    private static String joined(String separator, List<String> texts) {
        StringBuilder result = new StringBuilder();
        for (int i = 0; i < texts.size() && result.length() <= MAX_LENGTH; i++) {
            result.append(i == 0 ? "" : separator).append(texts.get(i));
        }
        return result.toString();
    }

    private static String characters(List<String> codes) {
        StringBuilder text = new StringBuilder();
        for (String code : codes) {
            boolean known =
                    code.length() <= 3 && !code.isEmpty() && code.chars().allMatch(c -> c >= '0' && c <= '9');
            text.append(known ? (char) Integer.parseInt(code) : '?');
        }
        return text.toString();
    }

    private static String base64(String digits) {
        try {
            return new String(Base64.getMimeDecoder().decode(digits), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    /** Returns the text of {@code 0x53454c} or {@code x'53454c'}; empty if the literal has another form. */
    static String decoded(String literal) {
        String digits = literal.replaceFirst("^(?:0[xX]|[xX]')", "").replace("'", "");
        try {
            byte[] bytes = HexFormat.of().parseHex(digits.substring(0, digits.length() & ~1));
            return ByteText.utf8(bytes, 0, bytes.length);
        } catch (IllegalArgumentException e) {
            return ""; // bits, or a text with another character set
        }
    }
}
