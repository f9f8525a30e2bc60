package io.tailrace.detection.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecentTextsTest {

    /** All of them have one hash, so they compete for the same places. */
    private static final List<String> COLLIDING = combinations(6);

    private final RecentTexts recent = new RecentTexts();

    private static List<String> combinations(int pairs) {
        List<String> texts = List.of("");
        for (int i = 0; i < pairs; i++) {
            List<String> longer = new ArrayList<>();
            texts.forEach(text -> {
                longer.add(text + "Aa");
                longer.add(text + "BB");
            });
            texts = longer;
        }
        return texts;
    }

    @Test
    void textsOfOneHashHaveTheirOwnRules() {
        assertThat(COLLIDING).extracting(String::hashCode).containsOnly("AaAaAaAaAaAa".hashCode());
        int found = 0;
        for (int i = 0; i < COLLIDING.size(); i++) {
            assertThat(recent.get(COLLIDING.get(i))).isNull();
            recent.put(COLLIDING.get(i), new int[] {i});
            for (int other = 0; other <= i; other++) {
                int[] rules = recent.get(COLLIDING.get(other));
                assertThat(rules == null || rules[0] == other).isTrue();
                found += rules == null ? 0 : 1;
            }
        }
        assertThat(found).isGreaterThan(COLLIDING.size());
    }

    @Test
    void longTextsNeedNoMemory() {
        String text = "select ".repeat(1000);
        recent.put(text, new int[] {1});

        assertThat(recent.get(text)).isNull();
    }
}
