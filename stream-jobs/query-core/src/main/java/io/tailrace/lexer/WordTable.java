package io.tailrace.lexer;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Maps ASCII words to values. A lookup takes a range of bytes and creates no string. Immutable.
 *
 * @param <V> type of the values
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

    /** Creates a case-sensitive table. */
    public static <V> WordTable<V> of(Map<String, V> values) {
        return new WordTable<>(values, false);
    }

    /** Creates a case-insensitive table; the words are given in lower case. */
    public static <V> WordTable<V> ofAnyCase(Map<String, V> values) {
        return new WordTable<>(values, true);
    }

    /**
     * Creates a case-insensitive table of the values of an enum by their names, without the value for all other
     * words.
     */
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

    /** Returns the value of the word in the range, or null if the table does not contain it. */
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
