package io.tailrace.detection.correlation;

import io.tailrace.identity.Murmur3;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * What stands for a correlation's rules in its state: numbers made of their keys, which stay the same when a push changes
 * their order. All are negative; state of version 1 has places from 0 instead.
 */
final class RuleIds {

    /** Where the rule does not matter. */
    static final int ANY = 0;

    private final List<String> keys;
    private final int[] numbers;

    /** @param keys of the rules, in the correlation's order */
    RuleIds(List<String> keys) {
        this.keys = keys;
        this.numbers = keys.stream().mapToInt(RuleIds::number).toArray();
    }

    private static int number(String key) {
        byte[] digest = new Murmur3().update(key).digest();
        return ByteBuffer.wrap(digest).getInt() | Integer.MIN_VALUE;
    }

    int size() {
        return numbers.length;
    }

    int of(String key) {
        int place = keys.indexOf(key);
        return place < 0 ? number(key) : numbers[place];
    }

    /** The place of a rule in the correlation's order; -1 where the correlation does not use it any more. */
    int place(int number) {
        if (number >= 0) {
            return number < numbers.length ? number : -1;
        }
        for (int place = 0; place < numbers.length; place++) {
            if (numbers[place] == number) {
                return place;
            }
        }
        return -1;
    }
}
