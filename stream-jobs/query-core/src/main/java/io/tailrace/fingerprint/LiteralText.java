package io.tailrace.fingerprint;

import io.tailrace.fingerprint.ConditionTokens.Kind;
import io.tailrace.lexer.ByteText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Computes the text that functions assemble from literals: {@code CONCAT('DR', 'OP')}, {@code REVERSE('PORD')}, {@code
 * CHAR(68, 82)}, {@code UNHEX('4452')}, {@code FROM_BASE64('RFI=')}. Not thread-safe.
 */
final class LiteralText {

    private static final Set<String> FUNCTIONS =
            Set.of("concat", "concat_ws", "reverse", "unhex", "char", "from_base64", "lower", "upper", "trim");
    private static final Set<String> DECODING = Set.of("reverse", "unhex", "char", "from_base64");
    /** Bytes of a text that is read; longer ones are cut. */
    private static final int MAX_LENGTH = 4096;

    private static final int MAX_DEPTH = 4;
    private static final int MAX_ARGUMENTS = 256;

    private final ConditionTokens tokens;
    private boolean complete;
    private boolean coded;
    private boolean decoded;
    private int length;

    LiteralText(ConditionTokens tokens) {
        this.tokens = tokens;
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
        List<String> arguments = new ArrayList<>();
        boolean open = tokens.kind() == Kind.OPEN;
        complete &= open;
        while (open && complete && arguments.size() < MAX_ARGUMENTS && length < MAX_LENGTH) {
            tokens.next();
            argument(arguments, depth);
            open = tokens.isComma();
        }
        complete &= tokens.kind() == Kind.CLOSE;
        if (complete) {
            tokens.next();
        }
        decoded |= DECODING.contains(name);
        return value(name, arguments);
    }

    private void argument(List<String> arguments, int depth) {
        if (isFunction() && depth < MAX_DEPTH) {
            arguments.add(function(depth + 1));
            return;
        }
        switch (tokens.kind()) {
            case TEXT -> add(arguments, text(tokens.from() + 1, tokens.end() - 1));
            case NUMBER -> add(arguments, text(tokens.from(), tokens.end()));
            case CODED -> {
                coded = true;
                add(arguments, decoded(text(tokens.from(), tokens.end())));
            }
            default -> complete = false;
        }
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
            case "unhex" -> decoded("0x" + first);
            case "from_base64" -> base64(first);
            case "char" -> characters(arguments);
            case "concat_ws" -> String.join(first, arguments.subList(Math.min(1, arguments.size()), arguments.size()));
            default -> String.join("", arguments);
        };
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
