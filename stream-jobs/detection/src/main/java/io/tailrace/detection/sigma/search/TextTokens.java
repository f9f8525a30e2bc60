package io.tailrace.detection.sigma.search;

import io.tailrace.detection.match.WildcardMatcher;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A text of a rule as characters and wildcards: Sigma's specification, "Escaping".
 *
 * @param tokens tokens of {@link WildcardMatcher}
 * @param encoding charset of the bytes that base64 encodes
 * @param mark whether base64 adds a byte order mark
 */
record TextTokens(int[] tokens, Charset encoding, boolean mark) {

    private static final char ESCAPE = '\\';
    private static final char PLACEHOLDER = '%';
    private static final int[] BASE64_START = {0, 2, 3};
    private static final int[] BASE64_END = {0, 3, 2};
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xff, (byte) 0xfe};

    /** Parses a text. A backslash escapes a following wildcard or backslash; elsewhere it is a literal backslash. */
    static TextTokens of(String text) {
        IntStream.Builder tokens = IntStream.builder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == ESCAPE && i + 1 < text.length() && isSpecial(text.charAt(i + 1))) {
                tokens.add(text.charAt(++i));
            } else {
                tokens.add(c == '*' ? WildcardMatcher.ANY : c == '?' ? WildcardMatcher.ONE : c);
            }
        }
        return plain(tokens.build().toArray());
    }

    /** Returns a text without wildcards. */
    static TextTokens literal(String text) {
        return plain(text.chars().toArray());
    }

    private static TextTokens plain(int[] tokens) {
        return new TextTokens(tokens, StandardCharsets.UTF_8, false);
    }

    private static boolean isSpecial(char c) {
        return c == '*' || c == '?' || c == ESCAPE;
    }

    boolean hasWildcards() {
        return Arrays.stream(tokens).anyMatch(token -> token < 0);
    }

    /** Returns the characters; there must be no wildcards. */
    String text() {
        return new String(tokens, 0, tokens.length);
    }

    TextTokens withPrefix() {
        boolean has = tokens.length > 0 && tokens[0] == WildcardMatcher.ANY;
        return has ? this : with(IntStream.concat(IntStream.of(WildcardMatcher.ANY), Arrays.stream(tokens)));
    }

    TextTokens withSuffix() {
        boolean has = tokens.length > 0 && tokens[tokens.length - 1] == WildcardMatcher.ANY;
        return has ? this : with(IntStream.concat(Arrays.stream(tokens), IntStream.of(WildcardMatcher.ANY)));
    }

    private TextTokens with(IntStream changed) {
        return new TextTokens(changed.toArray(), encoding, mark);
    }

    TextTokens encoded(Charset charset, boolean withMark) {
        return new TextTokens(tokens, charset, withMark);
    }

    /** Makes dashes and slashes before a word equivalent. */
    TextTokens withDashes() {
        int[] changed = tokens.clone();
        for (int i = 0; i + 1 < tokens.length; i++) {
            boolean dash = tokens[i] == '-' || tokens[i] == '/';
            if (dash && isWord(tokens[i + 1]) && (i == 0 || !isWord(tokens[i - 1]))) {
                changed[i] = WildcardMatcher.DASH;
            }
        }
        return with(Arrays.stream(changed));
    }

    private static boolean isWord(int token) {
        return token == '_' || token >= 0 && Character.isLetterOrDigit(token);
    }

    /** Returns the text's bytes in base64. */
    TextTokens base64() {
        return literal(Base64.getEncoder().encodeToString(bytes()));
    }

    /** Returns the certain part of the base64 of a longer text that contains this one, by its offset in it. */
    List<TextTokens> base64Offsets() {
        byte[] bytes = bytes();
        List<TextTokens> offsets = new ArrayList<>();
        for (int shift = 0; shift < BASE64_START.length; shift++) {
            byte[] shifted = new byte[shift + bytes.length];
            System.arraycopy(bytes, 0, shifted, shift, bytes.length);
            String encoded = Base64.getEncoder().encodeToString(shifted);
            int end = encoded.length() - BASE64_END[shifted.length % BASE64_END.length];
            offsets.add(literal(encoded.substring(BASE64_START[shift], Math.max(end, BASE64_START[shift]))));
        }
        return offsets;
    }

    private byte[] bytes() {
        byte[] bytes = text().getBytes(encoding);
        if (!mark) {
            return bytes;
        }
        byte[] marked = Arrays.copyOf(BYTE_ORDER_MARK, BYTE_ORDER_MARK.length + bytes.length);
        System.arraycopy(bytes, 0, marked, BYTE_ORDER_MARK.length, bytes.length);
        return marked;
    }

    /** Returns the names of its placeholders, {@code %name%}, in their order. */
    List<String> placeholders() {
        List<String> names = new ArrayList<>();
        int from = 0;
        while (from < tokens.length) {
            int to = tokens[from] == PLACEHOLDER ? placeholderEnd(from) : -1;
            if (to > 0) {
                names.add(new String(tokens, from + 1, to - from - 1));
            }
            from = Math.max(from, to) + 1;
        }
        return names;
    }

    /** Returns the texts with one value in place of each {@code %name%}; empty if a name has no values. */
    List<TextTokens> expanded(Map<String, List<String>> values) {
        for (int from = 0; from < tokens.length; from++) {
            int to = tokens[from] == PLACEHOLDER ? placeholderEnd(from) : -1;
            if (to > 0) {
                return expanded(from, to, values);
            }
        }
        return List.of(this);
    }

    private int placeholderEnd(int from) {
        for (int to = from + 1; to < tokens.length && tokens[to] >= 0 && tokens[to] != ESCAPE; to++) {
            if (tokens[to] == PLACEHOLDER) {
                return to > from + 1 ? to : -1;
            }
        }
        return -1;
    }

    private List<TextTokens> expanded(int from, int to, Map<String, List<String>> values) {
        String name = new String(tokens, from + 1, to - from - 1);
        List<TextTokens> rests =
                with(Arrays.stream(tokens, to + 1, tokens.length)).expanded(values);
        List<TextTokens> all = new ArrayList<>();
        for (String value : values.getOrDefault(name, List.of())) {
            for (TextTokens rest : rests) {
                all.add(with(IntStream.concat(
                        IntStream.concat(Arrays.stream(tokens, 0, from), Arrays.stream(of(value).tokens)),
                        Arrays.stream(rest.tokens))));
            }
        }
        return all;
    }
}
