package io.tailrace.detection.correlation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class GroupWindowTest {

    private static final int MAX_COUNT = 4;
    private static final long SPAN = 10;

    private final GroupWindow window = new GroupWindow();

    @Test
    void matchesAreInTheOrderOfTimeAndKnowTheirPlace() {
        assertThat(List.of(add(5, "a"), add(1, "a"), add(3, "a"))).containsExactly(0, 0, 1);
        assertThat(add(3, "a")).as("it is there").isNegative();
        assertThat(times()).containsExactly(1L, 3L, 5L);
    }

    @Test
    void theOldestMatchOfTheSameValueIsDropped() {
        add(1, "a");
        add(2, "b");
        add(3, "b");
        add(5, "a");

        assertThat(add(6, "b")).isEqualTo(3);
        assertThat(times()).containsExactly(1L, 3L, 5L, 6L);
        assertThat(add(2, "a")).isZero();
        assertThat(times()).containsExactly(2L, 3L, 5L, 6L);
    }

    @Test
    void theOldestMatchIsDroppedForANewValue() {
        for (int time = 1; time <= MAX_COUNT; time++) {
            add(time, "a");
        }
        assertThat(add(9, "b")).isEqualTo(MAX_COUNT - 1);
        assertThat(times()).containsExactly(2L, 3L, 4L, 9L);
    }

    @Test
    void aMatchBetweenTwoOfItsKindWithinTheSpanIsDropped() {
        add(0, "a");
        add(1, "b");
        add(4, "a");
        compact(10, "a");
        assertThat(times()).containsExactly(0L, 1L, 10L);
    }

    @Test
    void aMatchBetweenTwoThatAreFurtherApartStays() {
        add(0, "a");
        add(4, "a");
        compact(11, "a");
        assertThat(times()).containsExactly(0L, 4L, 11L);
        compact(12, "b");
        assertThat(times()).containsExactly(0L, 4L, 11L, 12L);
    }

    @Test
    void aMatchIsRepeatedIfItsKindIsWithinTheSpanBeforeIt() {
        add(0, "a");
        assertThat(isRepeated(add(10, "a"))).isTrue();
        assertThat(isRepeated(add(11, "b"))).isFalse();
        assertThat(isRepeated(add(21, "a"))).isFalse();
    }

    @Test
    void theSpanIsADistanceAndNotATime() {
        add(1_000, "a");
        assertThat(isRepeated(add(1_004, "a"))).isTrue();
        compact(1_010, "a");
        assertThat(times()).containsExactly(1_000L, 1_010L);
    }

    @Test
    void onlyTheLastMatchIsRepeatedAtTheEnd() {
        add(0, "a");
        add(8, "b");
        assertThat(isRepeated(add(5, "a"))).isFalse();
    }

    @Test
    void whatIsStillNeededIsRemembered() {
        add(0, "a");
        window.fired().add(7L);

        window.forget(SPAN, 7);
        assertThat(times()).containsExactly(0L);
        assertThat(window.fired()).containsExactly(7L);
        window.forget(SPAN + 1, 8);
        assertThat(window.isEmpty()).isTrue();
    }

    @Test
    void rulesHaveNumbersOfTheirKeysAndPlacesInOlderState() {
        RuleIds numbers = new RuleIds(List.of("x", "y"));
        RuleIds otherOrder = new RuleIds(List.of("y", "x"));

        assertThat(numbers.of("y")).isEqualTo(otherOrder.of("y")).isNegative();
        assertThat(numbers.place(otherOrder.of("y"))).isEqualTo(1);
        assertThat(numbers.place(numbers.of("gone"))).isEqualTo(-1);
        assertThat(List.of(numbers.place(0), numbers.place(1), numbers.place(2)))
                .containsExactly(0, 1, -1);
    }

    private int add(long time, String value) {
        return window.add(occurrence(time, value), MAX_COUNT);
    }

    private void compact(long time, String value) {
        add(time, value);
        window.compact(occurrence(time, value), SPAN);
    }

    private boolean isRepeated(int place) {
        return window.isRepeatedAtEnd(place, SPAN);
    }

    private List<Long> times() {
        return window.occurrences().stream().map(RuleMatch::micros).toList();
    }

    private static RuleMatch occurrence(long time, String value) {
        return new RuleMatch(time, 0, "e" + time + value, "e" + time + value, -1, value, time + SPAN);
    }
}
