package io.tailrace.detection.event;

import io.tailrace.identity.Murmur3;
import java.util.HexFormat;

/** Bounds the texts in state, because a client can send statements and names of any length. */
public final class BoundedText {

    /** Maximum length in characters; a hash replaces the rest of a longer text. */
    public static final int MAX_LENGTH = 256;

    private BoundedText() {}

    /** Returns the text, or its beginning with a hash of the complete text. */
    public static String of(String text) {
        if (text.length() <= MAX_LENGTH) {
            return text;
        }
        String hash = HexFormat.of().formatHex(new Murmur3().update(text).digest());
        return text.substring(0, MAX_LENGTH - hash.length() - 1) + '#' + hash;
    }
}
