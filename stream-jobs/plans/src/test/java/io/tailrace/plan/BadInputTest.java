package io.tailrace.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.plan.advice.Advisor;
import io.tailrace.plan.json.RepairKind;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;

/** What no server writes on a good day. */
class BadInputTest {

    /** What a thread has by default, bytes. */
    private static final long USUAL_STACK = 1 << 20;

    private final PlanReader reader = new PlanReader();

    private Optional<Plan> read(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return reader.read(bytes, 0, bytes.length);
    }

    @Test
    void emptyAndOtherDocumentsAreNoPlans() {
        for (String text : new String[] {"", " ", "{}", "[]", "null", "{\"query_plan\": 1}", "ERROR 1064 (42000)"}) {
            assertThat(read(text)).as(text).isEmpty();
        }
    }

    @Test
    void everyBeginningOfAPlanIsRead() {
        String text =
                "{\"query_block\": {\"select_id\": 1, \"table\": {\"table_name\": \"t\", \"access_type\": \"ALL\"}}}";
        for (int length = 30; length < text.length(); length++) {
            Plan plan = read(text.substring(0, length)).orElseThrow();
            assertThat(plan.repairs().count(RepairKind.TRUNCATED)).isEqualTo(1);
        }
    }

    @Test
    void aThousandLevelsOfEitherFormatFitAThreadsStack() throws InterruptedException {
        int levels = 1000;
        String second = "{\"operation\":\"Filter: x\",\"access_type\":\"filter\",\"inputs\":[".repeat(levels)
                + "{\"operation\":\"Table scan on t\",\"access_type\":\"table\",\"table_name\":\"t\"}"
                + "]}".repeat(levels);
        String first = "{\"query_block\":" + "{\"ordering_operation\":".repeat(levels)
                + "{\"table\":{\"table_name\":\"t\"}}" + "}".repeat(levels) + "}";
        for (String text : new String[] {first, second}) {
            Plan plan = withUsualStack(text);
            assertThat(plan.nodes()).hasSizeGreaterThan(levels);
            assertThat(plan.nodes().get(levels + (text == first ? 1 : 0)).isTable())
                    .isTrue();
            assertThat(plan.repairs().isEmpty()).isTrue();
        }
    }

    @Test
    void whatIsDeeperIsCut() throws InterruptedException {
        for (String member :
                new String[] {"materialized_from_subquery", "nested_loop\":[{\"table", "unknown", "windows"}) {
            Plan plan = withUsualStack("{\"query_block\":" + ("{\"" + member + "\":").repeat(100_000));
            assertThat(plan.repairs().counts()).containsKey(RepairKind.TOO_DEEP);
        }
        withUsualStack("{\"operation\":\"x\",\"inputs\":[".repeat(100_000));
    }

    private Plan withUsualStack(String text) throws InterruptedException {
        AtomicReference<Plan> read = new AtomicReference<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread thread = new Thread(
                null,
                () -> {
                    Plan plan = read(text).orElseThrow();
                    assertThat(new PlanJson().write(plan)).contains(PlanHash.of(plan));
                    assertThat(PlanDiff.of(plan, plan)).isEmpty();
                    assertThat(Advisor.of(plan)).isNotNull();
                    plan.nodes();
                    read.set(plan);
                },
                "usual stack",
                USUAL_STACK);
        thread.setUncaughtExceptionHandler((t, e) -> failure.set(e));
        thread.start();
        thread.join();
        assertThat(failure.get()).isNull();
        return read.get();
    }

    @Test
    void tenMegabytesAreRead() {
        String table = "{\"table\":{\"table_name\":\"t\",\"access_type\":\"ALL\",\"attached_condition\":\"(t.a in ("
                + "'x',".repeat(1000) + "'y'))\"}},";
        String text = "{\"query_block\":{\"nested_loop\":[" + table.repeat((10 << 20) / table.length())
                + "{\"table\":{\"table_name\":\"last\",\"access_type\":\"ref\"}}]}}";
        Plan plan = Assertions.assertTimeout(
                Duration.ofSeconds(20), () -> read(text).orElseThrow());
        assertThat(plan.nodes())
                .anyMatch(node -> node.isTable() && node.access().alias().equals("last"));
    }
}
