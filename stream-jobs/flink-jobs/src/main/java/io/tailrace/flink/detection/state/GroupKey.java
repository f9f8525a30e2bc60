package io.tailrace.flink.detection.state;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Encodes the key of a group, its consumer and its values, as one text that can be decoded again. */
public final class GroupKey {

    private static final char SEPARATOR = '\u001f';
    private static final char ESCAPE = '\u001e';

    private GroupKey() {}

    public static String of(String consumer, List<String> group) {
        StringBuilder key = new StringBuilder(consumer);
        for (String value : group) {
            key.append(SEPARATOR);
            if (value.indexOf(SEPARATOR) < 0 && value.indexOf(ESCAPE) < 0) {
                key.append(value);
                continue;
            }
            for (int i = 0; i < value.length(); i++) {
                append(value.charAt(i), key);
            }
        }
        return key.toString();
    }

    private static void append(char c, StringBuilder key) {
        if (c == SEPARATOR || c == ESCAPE) {
            key.append(ESCAPE).append((char) (c + '@'));
        } else {
            key.append(c);
        }
    }

    public static String consumer(String key) {
        int end = key.indexOf(SEPARATOR);
        return end < 0 ? key : key.substring(0, end);
    }

    public static List<String> group(String key) {
        List<String> group = new ArrayList<>();
        String[] parts = key.split(String.valueOf(SEPARATOR), -1);
        Arrays.stream(parts, 1, parts.length).forEach(part -> group.add(unescaped(part)));
        return group;
    }

    private static String unescaped(String part) {
        if (part.indexOf(ESCAPE) < 0) {
            return part;
        }
        StringBuilder value = new StringBuilder();
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            value.append(c == ESCAPE ? (char) (part.charAt(++i) - '@') : c);
        }
        return value.toString();
    }
}
