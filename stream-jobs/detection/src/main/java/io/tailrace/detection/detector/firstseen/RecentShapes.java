package io.tailrace.detection.detector.firstseen;

import java.util.function.UnaryOperator;

/** Remembers the results of a conversion for recent texts, such as the networks of addresses. Not thread-safe. */
public final class RecentShapes implements UnaryOperator<String> {

    private static final int PLACES = 1 << 8;

    private final UnaryOperator<String> conversion;
    private final String[] texts = new String[PLACES];
    private final String[] shapes = new String[PLACES];

    /** @param conversion depends on its argument only; the texts are bounded in length */
    public RecentShapes(UnaryOperator<String> conversion) {
        this.conversion = conversion;
    }

    @Override
    public String apply(String text) {
        int hash = text.hashCode();
        int place = (hash ^ hash >>> Short.SIZE) & PLACES - 1;
        if (!text.equals(texts[place])) {
            shapes[place] = conversion.apply(text);
            texts[place] = text;
        }
        return shapes[place];
    }
}
