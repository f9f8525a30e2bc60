package io.tailrace.detection;

import java.util.Map;
import java.util.stream.Collectors;

/**
 * What an alert is about as one text, {@code user=app host=10.0.0.9}. Names and values that hold a blank, {@code =}, a
 * quote, a backslash or a control character, or nothing, stand in quotes, in which a backslash comes before a quote and
 * a backslash, and is written for a control character with its code ({@code \\u000a}). So two entities never have one
 * key.
 */
public final class EntityKey {

    private static final String QUOTED = "=\"\\";

    private EntityKey() {}

    /** The key of an entity's fields, in their order; empty where there are none. */
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
