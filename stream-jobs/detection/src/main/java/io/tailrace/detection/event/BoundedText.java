package io.tailrace.detection.event;

import io.tailrace.identity.Murmur3;
import java.util.HexFormat;

/** Texts that state may hold, whatever a client sends: no whole statements, no names of a megabyte. */
public final class BoundedText {

    /** Characters; of a longer text, a hash stands for the rest. */
    public static final int MAX_LENGTH = 256;

    private BoundedText() {}

    /** The text, or its beginning with a hash of the whole. */
    public static String of(String text) {
        if (text.length() <= MAX_LENGTH) {
            return text;
        }
        String hash = HexFormat.of().formatHex(new Murmur3().update(text).digest());
        return text.substring(0, MAX_LENGTH - hash.length() - 1) + '#' + hash;
    }
}
