package io.tailrace.detection.match;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.re2j.Pattern;
import io.tailrace.detection.event.FieldValue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegexMatcherTest {

    private static final int TEXTS = 500;
    private static final int TESTS = 20_000;
    private static final int THREADS = 4;

    /** More texts than places, so that they replace each other. */
    @Test
    void repeatedTextsGiveTheResultOfTheExpression() {
        RegexMatcher matcher = new RegexMatcher(Pattern.compile("7$"));
        Random random = new Random(1);
        for (int i = 0; i < TESTS; i++) {
            assertGivesTheResult(matcher, random.nextInt(TEXTS));
        }
    }

    /** These texts have the same hash. */
    @ParameterizedTest
    @ValueSource(strings = {"Aa", "BB"})
    void textsWithTheSameHashKeepTheirResults(String matching) {
        RegexMatcher matcher = new RegexMatcher(Pattern.compile("^" + matching + "$"));
        for (int i = 0; i < 4; i++) {
            assertThat(matcher.test(FieldValue.of("Aa"))).isEqualTo("Aa".equals(matching));
            assertThat(matcher.test(FieldValue.of("BB"))).isEqualTo("BB".equals(matching));
        }
    }

    @Test
    void longTextsAreTestedToo() {
        RegexMatcher matcher = new RegexMatcher(Pattern.compile("z$"));
        String longText = "a".repeat(100_000);
        for (int i = 0; i < 2; i++) {
            assertThat(matcher.test(FieldValue.of(longText))).isFalse();
            assertThat(matcher.test(FieldValue.of(longText + "z"))).isTrue();
        }
    }

    @Test
    void threadsShareAMatcher() throws Exception {
        RegexMatcher matcher = new RegexMatcher(Pattern.compile("7$"));
        Callable<Void> tests = () -> {
            IntStream.range(0, TESTS).forEach(i -> assertGivesTheResult(matcher, i % TEXTS));
            return null;
        };
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            for (Future<Void> done : threads.invokeAll(
                    IntStream.range(0, THREADS).mapToObj(thread -> tests).toList())) {
                done.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void assertGivesTheResult(RegexMatcher matcher, int number) {
        assertThat(matcher.test(FieldValue.of("select " + number)))
                .as("%d", number)
                .isEqualTo(number % 10 == 7);
    }
}
