package io.tailrace.plan.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlanHistoryTest {

    private static final double LEAST_RATIO = 1.25;
    private static final long SECOND = 1_000_000;

    private final SplittableRandom random = new SplittableRandom(5);
    private final List<Change> changes = new ArrayList<>();
    private PlanHistory history = new PlanHistory();
    private long micros = SECOND;

    @Test
    void theThirdExecutionInARowIsAChange() {
        run("a", 3, () -> 0.01);
        run("b", 2, () -> 0.01);
        run("a", 1, () -> 0.01);
        run("b", 2, () -> 0.01);
        assertThat(changes).isEmpty();
        run("b", 1, () -> 0.01);
        assertThat(changes).singleElement().satisfies(change -> {
            assertThat(change.oldPlan()).isEqualTo("a");
            assertThat(change.newPlan()).isEqualTo("b");
            assertThat(change.verdict()).isEqualTo(Verdict.PENDING);
            assertThat(change.micros()).isEqualTo(micros - 3 * SECOND);
            assertThat(change.after().count()).isEqualTo(3);
        });
    }

    @Test
    void aCaptureIsAChangeByItself() {
        history.capture("a", micros, changes::add);
        run("", 100, latencies(0.01, 0.5));
        history.capture("a", micros, changes::add);
        history.capture("b", micros, changes::add);
        assertThat(changes).hasSize(1);
        run("", 100, latencies(0.1, 0.5));
        assertThat(last().verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(last().before().count()).isEqualTo(100);
    }

    @Test
    void executionsBetweenTwoCapturesThatDifferBelongToNone() {
        history.capture("a", micros, changes::add);
        run("", 50, () -> 0.01);
        history.capture("a", micros, changes::add);
        run("", 70, () -> 0.02);
        history.capture("b", micros, changes::add);
        assertThat(last().before().count()).isEqualTo(50);
        assertThat(last().after().count()).isZero();
    }

    @Test
    void tenTimesSlowerIsSaidAtTheFirstLook() {
        run("a", 100, latencies(0.001, 0.4));
        run("b", 20, latencies(0.01, 0.4));
        assertThat(last().verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(last().verdictMicros()).isEqualTo(micros - SECOND);
        assertThat(last().ratio()).isCloseTo(10, within(3.0));
    }

    @Test
    void aPlanThatCameBackIsComparedByItsNewExecutions() {
        run("a", 1000, latencies(0.001, 0.4));
        run("b", 700, latencies(0.01, 0.4));
        run("a", 40, latencies(0.001, 0.4));
        assertThat(last().newPlan()).isEqualTo("a");
        assertThat(last().verdict()).isEqualTo(Verdict.FASTER);
        assertThat(last().after().count()).isEqualTo(20);
    }

    @Test
    void anotherPlanForARareValueDoesNotDisturbTheComparison() {
        run("a", 100, latencies(0.001, 0.4));
        for (int i = 0; i < 30; i++) {
            run("b", 3, latencies(0.001, 0.4));
            run("c", 1, latencies(1, 0.4));
        }
        assertThat(last().newPlan()).isEqualTo("b");
        run("b", 600, latencies(0.001, 0.4));
        assertThat(last().verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
    }

    @Test
    void aStatementThatGoesBackAndForthIsToldFourTimesAnHour() {
        run("a", 30, () -> 0.01);
        for (int i = 0; i < 50; i++) {
            run("b", 4, () -> 0.01);
            run("a", 4, () -> 0.01);
        }
        assertThat(changes).hasSize(4);
    }

    @Test
    void nothingIsSaidOfPlansWithTooFewExecutionsBefore() {
        run("a", 19, () -> 0.001);
        run("b", 1000, () -> 1);
        assertThat(changes).extracting(Change::verdict).containsExactly(Verdict.PENDING);
    }

    @Test
    void itForgetsTheLeastRecentPlan() throws IOException {
        for (int i = 0; i < 1000; i++) {
            run("plan " + i, 2, latencies(0.001, 1));
        }
        assertThat(bytes(history)).hasSizeLessThan(20_000);
    }

    @Test
    void itGoesOnFromWhatWasWritten() throws IOException {
        run("a", 300, latencies(0.001, 0.4));
        run("b", 10, latencies(0.01, 0.4));
        history = PlanHistory.read(new DataInputStream(new ByteArrayInputStream(bytes(history))));
        assertThat(history.current()).isEqualTo("b");
        assertThat(history.latestMicros()).isEqualTo(micros - SECOND);
        run("b", 10, latencies(0.01, 0.4));
        assertThat(last().verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(last().before().count()).isEqualTo(300);
    }

    /** Whatever the spread of single executions, and also where load comes and goes in waves of ten minutes. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 0.3})
    void ofStatementsThatDidNotChangeAtMostOneInAHundredIsCalledSlower(double wave) {
        int slower = 0;
        int faster = 0;
        int trials = 2000;
        for (int trial = 0; trial < trials; trial++) {
            Verdict verdict = trial(wave, 1, 0.2 + 0.3 * (trial % 5));
            slower += verdict == Verdict.SLOWER ? 1 : 0;
            faster += verdict == Verdict.FASTER ? 1 : 0;
        }
        assertThat((double) slower / trials).as("slower").isLessThanOrEqualTo(0.01);
        assertThat((double) faster / trials).as("faster").isLessThanOrEqualTo(0.01);
    }

    @Test
    void threeTimesSlowerIsFoundInNineteenOfTwenty() {
        int slower = 0;
        for (int trial = 0; trial < 500; trial++) {
            slower += trial(0.1, 3, 0.2 + 0.2 * (trial % 5)) == Verdict.SLOWER ? 1 : 0;
        }
        assertThat(slower).isGreaterThanOrEqualTo(475);
    }

    /** A statement runs each second, thrice as long before its change as after it. */
    private Verdict trial(double wave, double ratio, double spread) {
        history = new PlanHistory();
        changes.clear();
        Load load = new Load(wave);
        run("a", 1800, () -> 0.005 * Math.exp(spread * normal() + load.next()));
        run("b", 700, () -> ratio * 0.005 * Math.exp(spread * normal() + load.next()));
        return last().verdict();
    }

    /** A random walk that is drawn back to zero: how busy the server is, on the natural logarithmic scale. */
    private final class Load {

        private static final double MEMORY = Math.exp(-1.0 / 600);

        private final double deviation;
        private double now;

        Load(double deviation) {
            this.deviation = deviation;
            this.now = deviation * normal();
        }

        double next() {
            now = MEMORY * now + Math.sqrt(1 - MEMORY * MEMORY) * deviation * normal();
            return now;
        }
    }

    private DoubleSupplier latencies(double median, double spread) {
        return () -> median * Math.exp(spread * normal());
    }

    private double normal() {
        return random.nextGaussian();
    }

    private void run(String plan, int times, DoubleSupplier seconds) {
        for (int i = 0; i < times; i++) {
            history.execution(plan, micros, seconds.getAsDouble(), 10, LEAST_RATIO, changes::add);
            micros += SECOND;
        }
    }

    private Change last() {
        return changes.get(changes.size() - 1);
    }

    private static byte[] bytes(PlanHistory history) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        history.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }
}
