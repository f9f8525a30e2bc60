package io.tailrace.cli.digest.aggregate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NameCountsTest {

    @Test
    void aHeavyNameThatComesLateIsFirst() {
        NameCounts counts = new NameCounts();
        for (int i = 0; i < 500; i++) {
            counts.add("host-" + i, 1);
        }
        for (int i = 0; i < 300; i++) {
            counts.add(new String("late"), 2);
            counts.add("host-7", 1);
        }
        List<NameCounts.Count> heaviest = counts.heaviest();
        assertThat(heaviest.get(0)).isEqualTo(new NameCounts.Count("late", 600));
        assertThat(heaviest.get(1)).isEqualTo(new NameCounts.Count("host-7", 301));
        assertThat(counts.size()).isEqualTo(501);
        assertThat(counts.total()).isEqualTo(1_400);
    }

    @Test
    void tooManyNamesAreOneOther() {
        NameCounts counts = new NameCounts();
        for (int i = 0; i < 5_000; i++) {
            counts.add("host-" + i, 1);
        }
        assertThat(counts.size()).isEqualTo(NameCounts.MAX_NAMES + 1);
        assertThat(counts.heaviest().get(0)).isEqualTo(new NameCounts.Count(NameCounts.OTHER, 4_000));
        NameCounts twice = new NameCounts();
        twice.addAll(counts);
        twice.addAll(counts);
        assertThat(twice.total()).isEqualTo(10_000);
    }
}
