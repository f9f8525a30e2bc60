package io.tailrace.lexer;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Values by words of ASCII, found by a range of bytes without making a string. Immutable.
 *
 * @param <V> what a word stands for
 */
public final class WordTable<V> {

    private final byte[][] words;
    private final Object[] values;
    private final int mask;
    private final boolean anyCase;

    private WordTable(Map<String, V> values, boolean anyCase) {
        int slots = Integer.highestOneBit(values.size() * 4) * 2;
        this.words = new byte[slots][];
        this.values = new Object[slots];
        this.mask = slots - 1;
        this.anyCase = anyCase;
        values.forEach((word, value) -> put(ByteText.ascii(word), value));
    }

    /** A table of these words as they are spelled. */
    public static <V> WordTable<V> of(Map<String, V> values) {
        return new WordTable<>(values, false);
    }

    /** A table of these words, given in lower case and found in any. */
    public static <V> WordTable<V> ofAnyCase(Map<String, V> values) {
        return new WordTable<>(values, true);
    }

    /** The values of an enum by their names in any case, without the one that stands for every other word. */
    public static <E extends Enum<E>> WordTable<E> ofNames(E[] values, E other) {
        return ofAnyCase(Stream.of(values)
                .filter(value -> value != other)
                .collect(Collectors.toMap(value -> value.name().toLowerCase(Locale.ROOT), value -> value)));
    }

    private void put(byte[] word, V value) {
        int slot = slot(word, 0, word.length);
        while (words[slot] != null) {
            slot = slot + 1 & mask;
        }
        words[slot] = word;
        values[slot] = value;
    }

    /** The value of the word in the range, or null where it is none of the table's. */
    @SuppressWarnings("unchecked")
    public V get(byte[] bytes, int from, int to) {
        int slot = slot(bytes, from, to);
        while (words[slot] != null) {
            if (isEqual(words[slot], bytes, from, to)) {
                return (V) values[slot];
            }
            slot = slot + 1 & mask;
        }
        return null;
    }

    private int slot(byte[] bytes, int from, int to) {
        return (anyCase ? ByteText.hashIgnoreCase(bytes, from, to) : ByteText.hash(bytes, from, to)) & mask;
    }

    private boolean isEqual(byte[] word, byte[] bytes, int from, int to) {
        return anyCase
                ? ByteText.equalsIgnoreCase(bytes, from, to, word)
                : Arrays.equals(word, 0, word.length, bytes, from, to);
    }
}
