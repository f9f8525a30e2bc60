package io.tailrace.detection;

import java.util.Map;
import java.util.stream.Collectors;

/**
 * Formats the subject of an alert as one text, such as {@code user=app host=10.0.0.9}. Names and values that are empty
 * or contain a blank, {@code =}, a quote, a backslash or a control character are quoted. Within quotes, a backslash
 * precedes a quote and a backslash, and replaces a control character together with its code ({@code \\u000a}). Distinct
 * entities therefore have distinct keys.
 */
public final class EntityKey {

    private static final String QUOTED = "=\"\\";

    private EntityKey() {}

    /** Returns the key of an entity, with its fields in the given order; empty if there are no fields. */
    public static String of(Map<String, String> entity) {
        return entity.entrySet().stream()
                .map(field -> escaped(field.getKey()) + '=' + escaped(field.getValue()))
                .collect(Collectors.joining(" "));
    }

    private static String escaped(String text) {
        boolean isPlain = !text.isEmpty() && text.chars().noneMatch(EntityKey::isSpecial);
        return isPlain ? text : quoted(text);
    }

    private static boolean isSpecial(int c) {
        return Character.isWhitespace(c) || Character.isISOControl(c) || QUOTED.indexOf(c) >= 0;
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isISOControl(c)) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c == '"' || c == '\\' ? "\\" : "").append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
