package io.tailrace.plan.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.StatementPlan;
import io.tailrace.plan.Operation;
import io.tailrace.plan.Plan;
import io.tailrace.plan.reader.PlanReader;
import io.tailrace.plan.reader.TabularPlanReader;
import io.tailrace.plan.shape.PlanHash;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlanRecordsTest {

    @Test
    void rowsOfTheSlowLogAreAPlanWithItsTablesInTheirOrder() {
        StatementPlan plan = new PlanRecords()
                .of(new TabularPlanReader()
                        .read(List.of(
                                "id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\tfiltered\t"
                                        + "r_filtered\tExtra",
                                "1\tSIMPLE\tc\tALL\tPRIMARY\tNULL\tNULL\tNULL\t5000\t5000.00\t100.00\t0.10\t"
                                        + "Using where; Using filesort",
                                "1\tSIMPLE\to\tref\tby_customer\tby_customer\t4\tshop.c.id\t7\t7.00\t100.00\t100.00\t"))
                        .orElseThrow());

        assertThat(plan.getTables()).containsExactly("c", "o");
        assertThat(plan.getAccessTypes()).containsExactly("ALL", "ref");
        assertThat(plan.getIndexes()).containsExactly("", "by_customer");
        assertThat(plan.getPlanHash()).matches("[0-9A-F]{16}");
        assertThat(plan.getHashRules()).isEqualTo(PlanHash.RULE_SET);
        assertThat(plan.getTree().lines())
                .containsExactly(
                        "query block",
                        "  sort, filesort",
                        "    join",
                        "      c: ALL, 5,000 rows",
                        "      o: ref by by_customer, 7 rows");
    }

    @Test
    void aMixOfSetOperationsIsReadAsAUnion() {
        Plan plan = new TabularPlanReader()
                .read(List.of(
                        "1\tPRIMARY\ta\tALL\tNULL\tNULL\tNULL\tNULL\t5\t",
                        "2\tUNION\tb\tALL\tNULL\tNULL\tNULL\tNULL\t5\t",
                        "3\tEXCEPT\tc\tALL\tNULL\tNULL\tNULL\tNULL\t5\t",
                        "NULL\tUNIT RESULT\t<unit1,2,3>\tALL\tNULL\tNULL\tNULL\tNULL\tNULL\t"))
                .orElseThrow();

        assertThat(plan.root().operation()).isEqualTo(Operation.UNION);
        assertThat(new PlanRecords().of(plan).getTables()).containsExactly("a", "b", "c");
    }

    @Test
    void literalsOfADocumentAreNowhereInItsRecord() {
        byte[] document = ("{\"query_block\": {\"select_id\": 1, \"cost_info\": {\"query_cost\": \"502.25\"},"
                        + "\"table\": {\"table_name\": \"orders\", \"access_type\": \"ALL\","
                        + "\"rows_examined_per_scan\": 40000, \"filtered\": \"10.00\","
                        + "\"attached_condition\": \"(`shop`.`orders`.`card` = '4111111111111111')\"}}}")
                .getBytes(StandardCharsets.UTF_8);
        StatementPlan plan = new PlanRecords()
                .of(new PlanReader().read(document, 0, document.length).orElseThrow());

        assertThat(plan.getCost()).isEqualTo(502.25);
        assertThat(plan.toString()).contains("orders").doesNotContain("4111111111111111");
        assertThat(plan.getAdvice()).anyMatch(advice -> advice.startsWith("missing index · orders: "));
    }
}
