package io.tailrace.plan.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.tailrace.testing.PropertyTestBudget;
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

    private static final double MIN_RATIO = 1.25;
    private static final long SECOND = 1_000_000;
    private static final long HOUR = 3600 * SECOND;

    private final SplittableRandom random = new SplittableRandom(5);
    private final List<DetectedPlanChange> changes = new ArrayList<>();
    private PlanHistory history = new PlanHistory();
    private long micros = SECOND;
    /** Database in which the statement runs. */
    private String database = "shop";

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
            assertThat(change.verdict()).isEqualTo(PlanVerdict.PENDING);
            assertThat(change.micros()).isEqualTo(micros - 3 * SECOND);
            assertThat(change.after().count()).isEqualTo(3);
        });
    }

    @Test
    void aCaptureIsAChangeByItself() {
        capture("a");
        run("", 100, latencies(0.01, 0.5));
        capture("a");
        capture("b");
        assertThat(changes).hasSize(1);
        assertThat(last().basis()).isEqualTo(PlanBasis.CAPTURED);
        assertThat(last().oldSeenMicros()).isEqualTo(last().micros() - SECOND);
        run("", 100, latencies(0.1, 0.5));
        assertThat(last().verdict()).isEqualTo(PlanVerdict.SLOWER);
        assertThat(last().before().count()).isEqualTo(100);
    }

    @Test
    void executionsBetweenDifferentCapturesCountForNeither() {
        capture("a");
        run("", 50, () -> 0.01);
        capture("a");
        run("", 70, () -> 0.02);
        capture("b");
        assertThat(last().before().count()).isEqualTo(50);
        assertThat(last().after().count()).isZero();
    }

    @Test
    void executionsBetweenCapturesCountForTheOldPlanIfItHasNoOthers() {
        capture("a");
        run("", 100, latencies(0.001, 0.4));
        capture("b");
        run("", 20, latencies(0.01, 0.4));
        assertThat(changes)
                .extracting(DetectedPlanChange::verdict)
                .containsExactly(PlanVerdict.PENDING, PlanVerdict.SLOWER);
        assertThat(last().before().count()).isEqualTo(100);
    }

    @Test
    void executionsThatComeLateCountWhereTheyBelong() {
        for (int capture = 0; capture < 4; capture++) {
            micros = (1 + 100L * capture) * SECOND;
            capture(capture < 2 ? "a" : "b");
        }
        micros = 10 * SECOND;
        run("", 25, () -> 0.001);
        micros = 110 * SECOND;
        run("", 50, () -> 1);
        micros = 210 * SECOND;
        run("", 10, () -> 0.01);
        micros = 310 * SECOND;
        run("", 10, () -> 0.01);
        assertThat(last().before().count()).isEqualTo(25);
        assertThat(last().after().count()).isEqualTo(20);
        assertThat(last().verdict()).isEqualTo(PlanVerdict.SLOWER);
    }

    /** As after a backfill, or when a parser's subtask is more than five seconds behind another. */
    @Test
    void executionsBeforeTheChangeThatComeLateAreNoChangeBack() {
        run("a", 100, () -> 0.01);
        long changed = micros;
        run("b", 20, () -> 0.1);
        micros = changed - 50 * SECOND;
        run("a", 40, () -> 0.01);
        micros = changed + 20 * SECOND;
        run("b", 20, () -> 0.1);
        assertThat(changes)
                .extracting(DetectedPlanChange::newPlan, DetectedPlanChange::verdict)
                .containsExactly(tuple("b", PlanVerdict.PENDING), tuple("b", PlanVerdict.SLOWER));
        assertThat(history.current()).isEqualTo("b");
    }

    @Test
    void anExecutionThatComesLateDoesNotInterruptTheCandidate() {
        run("a", 3, () -> 0.01);
        micros += SECOND;
        run("b", 2, () -> 0.01);
        history.execution(database, "a", micros - 3 * SECOND, 0.01, 10, MIN_RATIO, changes::add);
        run("b", 1, () -> 0.01);
        assertThat(changes).extracting(DetectedPlanChange::newPlan).containsExactly("b");
    }

    @Test
    void aCaptureThatIsReadTwiceOrTooLateChangesNothing() {
        capture("a");
        run("", 30, () -> 0.01);
        capture("b");
        history.capture("shop", "b", micros - SECOND, changes::add);
        history.capture("shop", "a", micros - 2 * SECOND, changes::add);
        assertThat(changes).hasSize(1);
        assertThat(history.current()).isEqualTo("b");
    }

    @Test
    void fourChangesOfCapturesADayAreReported() {
        for (int hour = 0; hour < 48; hour++) {
            capture(hour % 2 == 0 ? "a" : "b");
            micros += 3600 * SECOND;
        }
        assertThat(changes)
                .filteredOn(change -> change.verdict() == PlanVerdict.PENDING)
                .hasSize(8);
    }

    @Test
    void plansInTheLogTakePrecedence() {
        run("a", 30, () -> 0.01);
        capture("of the same, according to EXPLAIN");
        run("b", 3, () -> 0.01);
        capture("of this one, according to EXPLAIN");
        run("", 30, () -> 1);
        assertThat(changes).singleElement().satisfies(change -> {
            assertThat(change.basis()).isEqualTo(PlanBasis.LOGGED);
            assertThat(change.newPlan()).isEqualTo("b");
        });
    }

    @Test
    void theHistoryRestartsWhenTheLogContainsPlans() {
        capture("a");
        run("", 30, () -> 0.01);
        capture("b");
        run("logged b", 30, () -> 0.01);
        assertThat(changes)
                .extracting(DetectedPlanChange::verdict)
                .containsExactly(PlanVerdict.PENDING, PlanVerdict.UNKNOWN);
        assertThat(last().reason()).isEqualTo("the log now contains plans");
        assertThat(history.current()).isEqualTo("logged b");
    }

    @Test
    void capturesCountADayAfterTheLastPlanInTheLog() {
        run("logged a", 30, () -> 0.01);
        run("", 1, () -> 0.01);
        micros += 23 * HOUR;
        run("", 1, () -> 0.01);
        capture("a");
        assertThat(history.current()).isEqualTo("logged a");
        micros += HOUR;
        run("", 1, () -> 0.01);
        capture("a");
        run("", 30, () -> 0.01);
        assertThat(changes).isEmpty();
        assertThat(history.current()).isEqualTo("a");
        capture("b");
        assertThat(last().basis()).isEqualTo(PlanBasis.CAPTURED);
    }

    /** The job was down for two days and the collectors were not: captures are read first, executions later. */
    @Test
    void capturesThatAreReadBeforeTheExecutionsOfTheirTimeTakeNothingAway() {
        run("a", 100, latencies(0.001, 0.4));
        run("b", 10, latencies(0.01, 0.4));
        long down = micros;
        for (int hour = 0; hour < 48; hour++) {
            micros += HOUR;
            capture("of the same, according to EXPLAIN");
        }
        micros = down;
        run("b", 10, latencies(0.01, 0.4));
        assertThat(last().verdict()).isEqualTo(PlanVerdict.SLOWER);
        assertThat(last().before().count()).isEqualTo(100);
        assertThat(last().after().count()).isEqualTo(20);
    }

    /** A small tenant's table is read by a full scan, that of a large tenant by its index. */
    @Test
    void anotherTenantsPlanIsNoChange() {
        for (int hour = 0; hour < 30; hour++) {
            database = hour % 2 == 0 ? "large" : "small";
            capture(hour % 2 == 0 ? "ref" : "ALL");
            run("", 10, () -> 0.001);
            micros += HOUR;
        }
        assertThat(changes).isEmpty();
        assertThat(history.database()).isEqualTo("large");
        assertThat(history.current()).isEqualTo("ref");

        database = "large";
        capture("ALL");
        database = "small";
        run("", 100, () -> 0.001);
        database = "large";
        run("", 20, () -> 1);
        assertThat(changes)
                .extracting(DetectedPlanChange::verdict)
                .containsExactly(PlanVerdict.PENDING, PlanVerdict.SLOWER);
        assertThat(last().before().count()).isEqualTo(140);
        assertThat(last().after().count()).isEqualTo(20);
    }

    @Test
    void aDatabaseWithoutCapturesForADayIsReplaced() {
        capture("ref");
        run("", 30, () -> 0.01);
        capture("ALL");
        database = "small";
        micros += 24 * HOUR - 2 * SECOND;
        capture("index");
        assertThat(changes).hasSize(1);
        assertThat(history.database()).isEqualTo("shop");
        micros += 2 * SECOND;
        capture("index");
        assertThat(last().reason()).isEqualTo("captures are now of another database");
        assertThat(history.current()).isEqualTo("index");
        assertThat(history.database()).isEqualTo("small");
        capture("range");
        assertThat(last().oldPlan()).isEqualTo("index");
    }

    @Test
    void unknownDatabasesCountAsOne() {
        database = "";
        capture("a");
        database = "shop";
        capture("a");
        database = "";
        run("", 30, () -> 0.01);
        capture("b");
        assertThat(last().oldPlan()).isEqualTo("a");
        assertThat(last().before().count()).isEqualTo(30);
        assertThat(history.database()).isEqualTo("shop");
    }

    /** A capture more than an hour ahead is not read at all. */
    @Test
    void aCaptureOfTheFutureIsEffectiveUntilItsTimeOnly() {
        capture("a");
        run("", 30, () -> 0.01);
        long now = micros;
        micros += HOUR - SECOND;
        capture("of the future");
        micros = now;
        for (int minute = 0; minute < 60; minute++) {
            micros = now + minute * 60 * SECOND;
            capture("a");
        }
        assertThat(history.current()).isEqualTo("of the future");
        micros = now + HOUR;
        capture("a");
        assertThat(history.current()).isEqualTo("a");
        run("", 20, () -> 0.01);
        assertThat(last().newPlan()).isEqualTo("a");
        assertThat(last().after().count()).isEqualTo(20);
    }

    @Test
    void tenTimesSlowerIsReportedAtTheFirstTest() {
        run("a", 100, latencies(0.001, 0.4));
        run("b", 20, latencies(0.01, 0.4));
        assertThat(last().verdict()).isEqualTo(PlanVerdict.SLOWER);
        assertThat(last().verdictMicros()).isEqualTo(micros - SECOND);
        assertThat(last().ratio()).isCloseTo(10, within(3.0));
    }

    @Test
    void aPlanThatCameBackIsComparedByItsNewExecutions() {
        run("a", 1000, latencies(0.001, 0.4));
        run("b", 700, latencies(0.01, 0.4));
        run("a", 40, latencies(0.001, 0.4));
        assertThat(last().newPlan()).isEqualTo("a");
        assertThat(last().verdict()).isEqualTo(PlanVerdict.FASTER);
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
        assertThat(last().verdict()).isEqualTo(PlanVerdict.NO_DIFFERENCE);
    }

    @Test
    void alternatingPlansAreReportedFourTimesAnHour() {
        run("a", 30, () -> 0.01);
        for (int i = 0; i < 50; i++) {
            run("b", 4, () -> 0.01);
            run("a", 4, () -> 0.01);
        }
        assertThat(changes)
                .filteredOn(change -> change.verdict() == PlanVerdict.PENDING)
                .hasSize(4);
    }

    @Test
    void theVerdictIsUnknownWithTooFewExecutionsBefore() {
        run("a", 19, () -> 0.001);
        run("b", 1000, () -> 1);
        assertThat(changes)
                .extracting(DetectedPlanChange::verdict)
                .containsExactly(PlanVerdict.PENDING, PlanVerdict.UNKNOWN);
        assertThat(last().reason()).isEqualTo("19 executions before the change");
        assertThat(last().after().count()).isEqualTo(20);
    }

    @Test
    void theVerdictIsUnknownADayAfterAChange() {
        run("a", 100, latencies(0.001, 0.4));
        run("b", 4, latencies(0.01, 0.4));
        long deadline = history.deadlineMicros().orElseThrow();
        assertThat(deadline).isEqualTo(last().micros() + 24 * 3600 * SECOND);
        history.abandon(deadline - 1, changes::add);
        assertThat(changes).hasSize(1);
        history.abandon(deadline, changes::add);
        history.abandon(deadline + 1, changes::add);
        assertThat(changes).hasSize(2);
        assertThat(last().verdict()).isEqualTo(PlanVerdict.UNKNOWN);
        assertThat(last().reason()).isEqualTo("4 executions since the change");
        assertThat(last().verdictMicros()).isEqualTo(deadline);
        assertThat(history.deadlineMicros()).isEmpty();

        run("b", 16, latencies(0.01, 0.4));
        assertThat(last().verdict()).isEqualTo(PlanVerdict.SLOWER);
        assertThat(last().micros()).isEqualTo(changes.get(0).micros());
    }

    @Test
    void aChangeThatAnotherFollowsIsUnknown() {
        run("a", 100, latencies(0.001, 0.4));
        run("b", 7, latencies(0.01, 0.4));
        run("c", 3, latencies(0.01, 0.4));
        assertThat(changes)
                .extracting(DetectedPlanChange::newPlan, DetectedPlanChange::verdict)
                .containsExactly(
                        tuple("b", PlanVerdict.PENDING),
                        tuple("b", PlanVerdict.UNKNOWN),
                        tuple("c", PlanVerdict.PENDING));
        assertThat(changes.get(1).reason()).isEqualTo("another plan followed after 7 executions");
    }

    @Test
    void itForgetsTheLeastRecentPlan() throws IOException {
        for (int i = 0; i < 1000; i++) {
            run("plan " + i, 2, latencies(0.001, 1));
        }
        assertThat(bytes(history)).hasSizeLessThan(20_000);
    }

    @Test
    void continuesFromWrittenState() throws IOException {
        run("a", 300, latencies(0.001, 0.4));
        run("b", 10, latencies(0.01, 0.4));
        history = PlanHistory.read(new DataInputStream(new ByteArrayInputStream(bytes(history))));
        assertThat(history.current()).isEqualTo("b");
        assertThat(history.latestMicros()).isEqualTo(micros - SECOND);
        run("b", 10, latencies(0.01, 0.4));
        assertThat(last().verdict()).isEqualTo(PlanVerdict.SLOWER);
        assertThat(last().before().count()).isEqualTo(300);
    }

    @Test
    void capturesAndExecutionsContinueFromWrittenState() throws IOException {
        capture("a");
        run("", 30, latencies(0.001, 0.4));
        history = PlanHistory.read(new DataInputStream(new ByteArrayInputStream(bytes(history))));
        capture("a");
        capture("b");
        run("", 10, latencies(0.01, 0.4));
        history = PlanHistory.read(new DataInputStream(new ByteArrayInputStream(bytes(history))));
        assertThat(history.database()).isEqualTo("shop");
        run("", 10, latencies(0.01, 0.4));
        assertThat(last().verdict()).isEqualTo(PlanVerdict.SLOWER);
        assertThat(last().basis()).isEqualTo(PlanBasis.CAPTURED);
        assertThat(last().before().count()).isEqualTo(30);
    }

    /** Version 1 of the state, before plans were captured. */
    @Test
    void stateOfEarlierVersionsIsRead() throws IOException {
        PlanLatencyHistory a = new PlanLatencyHistory("a");
        for (int i = 0; i < 40; i++) {
            a.add(micros, 0.001, 10);
            micros += SECOND;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(1);
        out.writeByte(1);
        a.write(out);
        new PlanLatencyHistory("").write(out);
        a.write(out);
        out.writeUTF("a");
        new PlanLatencyHistory("").write(out);
        out.writeByte(0);
        out.writeLong(0);
        out.writeLong(Long.MIN_VALUE);
        out.writeInt(0);
        out.writeUTF("");
        out.writeLong(0);
        out.writeByte(0);
        out.writeBoolean(false);
        history = PlanHistory.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
        run("b", 20, latencies(0.1, 0.4));
        assertThat(last().verdict()).isEqualTo(PlanVerdict.SLOWER);
        assertThat(last().basis()).isEqualTo(PlanBasis.LOGGED);
        assertThat(last().before().count()).isEqualTo(40);
    }

    /** Version 1 did not contain the last time of the old plan, so it is unknown for the statement's last change. */
    @Test
    void missingFieldsOfEarlierVersionsAreUnknown() throws IOException {
        run("a", 30, () -> 0.01);
        run("b", 10, () -> 0.1);
        byte[] written = bytes(history);
        written[0] = 1;
        history = PlanHistory.read(new DataInputStream(new ByteArrayInputStream(written)));
        run("b", 10, () -> 0.1);
        assertThat(last().verdict()).isEqualTo(PlanVerdict.SLOWER);
        assertThat(last().oldSeenMicros()).isZero();
    }

    /** Any spread of single executions, also if load varies in waves of ten minutes. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 0.3})
    void atMostOneInAHundredUnchangedStatementsIsSlower(double wave) {
        int slower = 0;
        int faster = 0;
        int trials = PropertyTestBudget.of(400, 2000);
        for (int trial = 0; trial < trials; trial++) {
            PlanVerdict verdict = trial(wave, 1, 0.2 + 0.3 * (trial % 5));
            slower += verdict == PlanVerdict.SLOWER ? 1 : 0;
            faster += verdict == PlanVerdict.FASTER ? 1 : 0;
        }
        assertThat((double) slower / trials).as("slower").isLessThanOrEqualTo(0.01);
        assertThat((double) faster / trials).as("faster").isLessThanOrEqualTo(0.01);
    }

    @Test
    void threeTimesSlowerIsFoundInNineteenOfTwenty() {
        int slower = 0;
        int trials = PropertyTestBudget.of(200, 500);
        for (int trial = 0; trial < trials; trial++) {
            slower += trial(0.1, 3, 0.2 + 0.2 * (trial % 5)) == PlanVerdict.SLOWER ? 1 : 0;
        }
        assertThat((double) slower / trials).isGreaterThanOrEqualTo(0.95);
    }

    /** Runs a statement each second, whose latency changes by a ratio. */
    private PlanVerdict trial(double wave, double ratio, double spread) {
        history = new PlanHistory();
        changes.clear();
        Load load = new Load(wave);
        run("a", 1800, () -> 0.005 * Math.exp(spread * normal() + load.next()));
        run("b", 700, () -> ratio * 0.005 * Math.exp(spread * normal() + load.next()));
        return last().verdict();
    }

    /** A random walk with mean reversion to zero: the server's load on the natural logarithmic scale. */
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
            history.execution(database, plan, micros, seconds.getAsDouble(), 10, MIN_RATIO, changes::add);
            micros += SECOND;
        }
    }

    private void capture(String plan) {
        history.capture(database, plan, micros, changes::add);
        micros += SECOND;
    }

    private DetectedPlanChange last() {
        return changes.get(changes.size() - 1);
    }

    private static byte[] bytes(PlanHistory history) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        history.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }
}
