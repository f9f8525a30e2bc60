package io.tailrace.detection.correlation;

import io.tailrace.identity.Murmur3;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The numbers that identify the rules of a correlation in its state. They are derived from the rule keys, so a push
 * that changes the order of the rules does not change them. All are negative; state of version 1 contains indexes from
 * 0 instead.
 */
final class RuleIds {

    /** The id for metrics that do not depend on the rule. */
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

    /** Returns the index of a rule in the correlation's order; -1 if the correlation no longer uses it. */
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
