package io.tailrace.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.plan.reader.PlanDocuments;
import io.tailrace.plan.record.PlanJson;
import io.tailrace.plan.shape.PlanDiff;
import io.tailrace.testing.PropertyTestBudget;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Any text can be read in finite time, and the model contains no literal of a condition. */
class PlanReaderFuzzTest {

    private static final int MUTATIONS = PropertyTestBudget.of(1_500, 6_000);
    private static final int PLANS = PropertyTestBudget.of(1_500, 4_000);
    private static final String SECRET = "hunter2";
    private static final String NUMBER = "4111111111111111";

    private static final String[] DOCUMENTS = {
        """
        {"query_block": {"select_id": 1, "cost_info": {"query_cost": "3.1"}, "ordering_operation": {"using_filesort": true,
          "nested_loop": [{"table": {"table_name": "o", "access_type": "ALL", "rows_examined_per_scan": 10,
          "attached_condition": "(`d`.`o`.`a` = 'x')", "attached_subqueries": [{"dependent": true, "query_block":
          {"select_id": 2, "message": "No tables used"}}]}}, {"table": {"table_name": "p", "access_type": "eq_ref",
          "key": "PRIMARY", "used_key_parts": ["id"], "materialized_from_subquery": {"query_block": {}}}}]}} /* q */ }
        """,
        """
        {"query": "/* select#1 */ select 1", "operation": "Sort: a", "access_type": "sort", "sort_fields": ["a"], "inputs": [
          {"operation": "Inner hash join", "access_type": "join", "join_type": "inner join", "join_algorithm": "hash",
          "inputs": [{"table_name": "t", "access_type": "index", "index_access_type": "index_range_scan",
          "ranges": ["('a' <= b <= 'c')"]}, {"access_type": "table", "table_name": "u", "operation": "Table scan on u"}]}]}
        """,
        """
        {"query_block": {"select_id": 1, "r_loops": 1, "filesort": {"sort_key": "a", "r_sort_passes": 2, "temporary_table": {
          "block-nl-join": {"table": {"table_name": "t", "access_type": "hash_ALL", "attached_condition": "a = 'x"y'"},
          "buffer_type": "flat"}, "subqueries": [{"expression_cache": {"query_block": {"select_id": 2}}}]}}}}
        """,
    };

    private final PlanDocuments documents = new PlanDocuments();
    private final PlanJson json = new PlanJson();
    private final Random random = new Random(20_261_122);

    @Test
    void brokenPlansAreReadToTheirEnd() {
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] bytes = DOCUMENTS[i % DOCUMENTS.length].getBytes(StandardCharsets.UTF_8);
            for (int n = random.nextInt(6); n >= 0; n--) {
                bytes = mutated(bytes);
            }
            for (Plan plan : read(bytes)) {
                assertThat(json.write(plan)).isNotEmpty();
                assertThat(PlanDiff.of(plan, plan)).isEmpty();
            }
        }
    }

    private byte[] mutated(byte[] bytes) {
        if (bytes.length == 0) {
            return bytes;
        }
        int at = random.nextInt(bytes.length);
        int length = Math.min(bytes.length - at, random.nextInt(20));
        StringBuilder out = new StringBuilder(new String(bytes, StandardCharsets.ISO_8859_1));
        switch (random.nextInt(5)) {
            case 0 -> out.setLength(at);
            case 1 -> out.delete(at, at + length);
            case 2 -> out.insert(at, out.substring(at, at + length));
            case 3 -> out.setCharAt(at, "{}[]\",:\\'`/*\n\0 1aé".charAt(random.nextInt(18)));
            default -> out.insert(at, "{}[]\",:\\'`/*\n\0 1aé".charAt(random.nextInt(18)));
        }
        return out.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void noLiteralOfAConditionIsInTheModel() {
        for (int i = 0; i < PLANS; i++) {
            String literal = literal();
            boolean escaped = random.nextBoolean();
            String condition = condition(literal);
            String text = document(escaped ? escaped(condition) : condition);
            for (Plan plan : read(text.getBytes(StandardCharsets.UTF_8))) {
                String model = json.write(plan);
                assertThat(model).as(text).doesNotContainIgnoringCase(SECRET).doesNotContain(NUMBER);
            }
        }
    }

    /** Returns a literal with SQL's escapes, as servers print it. */
    private String literal() {
        String[] pieces = {
            SECRET,
            " " + SECRET + " ",
            "\\'",
            "''",
            "\"",
            "\\\\",
            "\\n",
            "` ",
            " and b = ",
            "x",
            "%",
            "/*",
            "*/",
            "#",
            "-- ",
            "\", \"k\": \"",
            "}",
            ",",
            ")",
            "\\xDF",
            "select #"
        };
        StringBuilder literal = new StringBuilder("'").append(SECRET);
        for (int n = random.nextInt(8); n > 0; n--) {
            literal.append(pieces[random.nextInt(pieces.length)]);
        }
        return literal.append('\'').toString();
    }

    private String condition(String literal) {
        return switch (random.nextInt(6)) {
            case 0 -> "(`d`.`t`.`a` = " + literal + ")";
            case 1 -> "t.a like " + literal + " and t.b = " + NUMBER;
            case 2 -> "(t.a in (" + literal + "," + literal() + "))";
            case 3 -> "<if>(is_not_null_compl(t), (t.a <> " + literal + "), true)";
            case 4 -> "t.a = _utf8mb4" + literal + " and t.c > " + NUMBER + "e0";
            default -> "t.a between " + literal + " and " + literal();
        };
    }

    private static String escaped(String condition) {
        return condition.replace("\\", "\\\\").replace("\"", "\\\"");
    }

    private String document(String condition) {
        return switch (random.nextInt(5)) {
            case 0 -> "{\n\"query_block\": {\n\"table\": {\n\"table_name\": \"t\",\n\"attached_condition\": \""
                    + condition + "\",\n\"rows\": 1\n}\n}\n}\n";
            case 1 -> "{\"query_block\": {\"having_condition\": \"" + condition
                    + "\", \"table\": {\"table_name\": \"t\"}}}";
            case 2 -> "{\"operation\": \"Filter: " + condition + "\", \"access_type\": \"filter\", \"condition\": \""
                    + condition + "\"}";
            case 3 -> "{\"operation\": \"x\", \"access_type\": \"new\", \"new_condition\": {\"deep\": [\"" + condition
                    + "\"]}}";
            default -> "{\n\"query_block\": {\n\"filesort\": {\n\"sort_key\": \"" + condition
                    + "\",\n\"table\": {}\n}\n}\n}";
        };
    }

    private List<Plan> read(byte[] bytes) {
        List<Plan> plans = new ArrayList<>();
        documents.read(bytes, new PlanDocuments.Listener() {
            @Override
            public void plan(Plan plan, int line, int offset) {
                plans.add(plan);
            }

            @Override
            public void problem(String message, int line, int offset) {
                assertThat(Optional.of(message)).isNotEmpty();
            }
        });
        return plans;
    }
}
