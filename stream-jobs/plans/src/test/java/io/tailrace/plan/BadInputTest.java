package io.tailrace.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.plan.advice.Advisor;
import io.tailrace.plan.json.RepairKind;
import io.tailrace.plan.reader.PlanReader;
import io.tailrace.plan.record.PlanJson;
import io.tailrace.plan.record.PlanOutline;
import io.tailrace.plan.shape.PlanDiff;
import io.tailrace.plan.shape.PlanHash;
import io.tailrace.testing.GrowthRate;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents that are damaged, hostile or otherwise invalid. */
class BadInputTest {

    /** Members with a text. */
    private static final String[] TEXTS = {
        "table_name",
        "access_type",
        "key",
        "key_length",
        "join_type",
        "buffer_type",
        "buffer_size",
        "r_filtered",
        "r_sort_passes",
        "using_join_buffer",
        "table_function",
        "schema_name",
        "alias",
        "index_name",
        "join_algorithm",
        "subquery_location",
        "operation",
        "limit",
        "heading"
    };

    /** Members with a list of texts. */
    private static final String[] LISTS = {
        "possible_keys",
        "used_key_parts",
        "ref",
        "partitions",
        "used_columns",
        "key_columns",
        "lookup_references",
        "tables"
    };

    /** Members with a number. */
    private static final String[] NUMBERS = {
        "rows", "filtered", "cost", "r_rows", "r_filtered", "estimated_rows", "limit"
    };

    /** Default stack size of a thread, bytes. */
    private static final long DEFAULT_STACK = 1 << 20;

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
    void deeperLevelsAreCut() throws InterruptedException {
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
                DEFAULT_STACK);
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
        Plan plan = read(text).orElseThrow();
        assertThat(plan.nodes())
                .anyMatch(node -> node.isTable() && node.access().alias().equals("last"));
    }

    @Test
    void twiceAsManyTablesTakeTwiceAsLong() {
        String table = "{\"table\":{\"table_name\":\"t\",\"access_type\":\"ALL\",\"attached_condition\":\"(t.a in ("
                + "'x',".repeat(1000) + "'y'))\"}},";
        GrowthRate.assertLinear("tables", 10, 320, tables -> {
            String text = "{\"query_block\":{\"nested_loop\":[" + table.repeat(tables) + "{}]}}";
            return () -> read(text);
        });
    }

    /** The end of a text is not searched for repeatedly, no matter what one line contains. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"'\",1,\"''\" x,",
                "\"'\" ` \",",
                "\"'\",\"`\",",
                "\"'x\\\\\",\"'\" y,",
                "\"\\'\",1,",
                "\"'\" \" ,",
                "\",\"'",
                "\"a\":\"'\",\"b`\":1,",
            })
    void hostileQuotesTakeLinearTime(String piece) {
        for (String open : new String[] {"{\"query_block\":{\"x\":[\"'\" ,", "{\"query_block\":{\"x\":[\"`'\" z,"}) {
            GrowthRate.assertLinear(open + piece, 16 << 10, 256 << 10, size -> {
                String text = open + piece.repeat(size / piece.length());
                return () -> read(text);
            });
        }
    }

    /**
     * MariaDB does not escape the quotes of a condition's literal: if the document is cut off within one, members in
     * the literal resemble those of the plan.
     */
    @Test
    void theRestOfALiteralThatIsCutOffIsNotShown() {
        String text =
                """
                {"query_block": {"select_id": 1, "table": {"table_name": "t", "access_type": "ALL",
                  "attached_condition": "t.doc = '{"name": "hunter2", "x": "hunter2", "hunter2": 4711,
                    "attached_condition": "hunter2", "y": ["hunter2", 4711], "message": "hunter2"}' and t.id > 4711"
                  }}}
                """;
        for (int length = text.indexOf("t.doc"); length <= text.length(); length++) {
            Plan plan = read(text.substring(0, length)).orElseThrow();
            assertThat(new PlanJson().write(plan))
                    .as(text.substring(0, length))
                    .doesNotContain("hunter2")
                    .doesNotContain("4711")
                    .contains("\"ALL\"");
        }
    }

    /** The rest of a literal may contain any text that a server writes, and its numbers may be card numbers. */
    @Test
    void membersOfACutDocumentAreNotTrusted() {
        String secret = "\"hunter2\"";
        String names = "";
        for (String name : TEXTS) {
            names += "\"%s\": %s, ".formatted(name, secret);
        }
        for (String name : LISTS) {
            names += "\"%s\": [%s], ".formatted(name, secret);
        }
        for (String name : NUMBERS) {
            names += "\"%s\": 4711, ".formatted(name);
        }
        names += "\"cost_info\": {\"hunter2\": 4711, \"sort_cost\": \"hunter2\"}, "
                + "\"index_merge\": {\"hunter2\": {\"range\": {\"key\": \"hunter2\"}}}, ";
        for (String begin : new String[] {
            "{\"query_block\": {\"table\": {\"attached_condition\": \"t.doc = '{\", ",
            "{\"query_plan\": {\"access_type\": \"table\", \"condition\": \"t.doc = '{\", "
        }) {
            String text = begin + names;
            for (int length = begin.length(); length <= text.length(); length++) {
                String cut = text.substring(0, length);
                Plan plan = read(cut).orElseThrow();
                assertThat(new PlanJson().write(plan) + PlanOutline.of(plan) + PlanHash.shape(plan))
                        .as(cut)
                        .doesNotContain("hunter2")
                        .doesNotContain("4711");
            }
            Plan plan = read(text).orElseThrow();
            assertThat(plan.doubtful()).isTrue();
            assertThat(plan.nodes())
                    .anySatisfy(node -> assertThat(node.isTable()).isTrue());
        }
    }

    @Test
    void anApostropheOfTheServerIsNoQuote() {
        String subquery = ", \"order_by_subqueries\": [{\"query_block\": {\"message\": \"Plan isn't ready yet\"}}]";
        for (String literal : new String[] {"'x'", "'a \"quoted\" word'"}) {
            Plan plan = read("{\"query_block\": {\"table\": {\"table_name\": \"t\", \"attached_condition\": \"t.a = "
                            + literal + "\"}" + subquery + "}}")
                    .orElseThrow();
            assertThat(plan.doubtful()).as(literal).isFalse();
            assertThat(PlanOutline.of(plan).toString()).contains("t");
        }
    }

    /** Version 2 prints values of ranges without escaping their quotes. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "(name = 'x'hunter2'y')",
                "(name = 'x' <= hunter2 <= 'y')",
                "(name = 'x' <= hunter2 <= 'y' )",
                "('x'hunter2'y' <= name)",
                "('x' hunter2 <= 'y')",
                "('x' <= hunter2'y')",
                "('x' <= hunter2 <= 'y' <= created)",
            })
    void oneLiteralWithQuotesInItIsNoRange(String range) {
        assertThat(new PlanJson().write(ofRange(range))).doesNotContain("hunter2");
    }

    @Test
    void aRangeBetweenTwoLiteralsIsReadable() {
        assertThat(new PlanJson().write(ofRange("('2024-01-01' <= created < '2024-02-01')")))
                .contains("(? <= created < ?)");
    }

    private Plan ofRange(String range) {
        return read("{\"query_plan\": {\"operation\": \"Index range scan on t\", \"access_type\": \"index\", "
                        + "\"table_name\": \"t\", \"index_name\": \"i\", \"ranges\": [\"" + range + "\"]}}")
                .orElseThrow();
    }
}
