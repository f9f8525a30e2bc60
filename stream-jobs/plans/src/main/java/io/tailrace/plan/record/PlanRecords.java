package io.tailrace.plan.record;

import io.tailrace.event.StatementPlan;
import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanNode;
import io.tailrace.plan.advice.Advice;
import io.tailrace.plan.advice.Advisor;
import io.tailrace.plan.shape.PlanHash;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Creates rows of the table {@code plans}. Not thread-safe. */
public final class PlanRecords {

    private final PlanJson json = new PlanJson();

    /** Returns the fields that follow from the plan itself; the caller sets the server, the statement and the time. */
    public StatementPlan of(Plan plan) {
        StatementPlan record = new StatementPlan();
        record.setPlanHash(PlanHash.of(plan));
        record.setHashRules(PlanHash.RULE_SET);
        record.setFormat(plan.format().label());
        record.setDatabase("");
        record.setServerVersion("");
        addTables(plan, record);
        double cost = plan.root().estimates().cost();
        record.setCost(Double.isNaN(cost) ? null : cost);
        record.setTree(String.join("\n", PlanOutline.of(plan)));
        record.setModel(json.write(plan));
        record.setAdvice(Advisor.of(plan).stream().map(PlanRecords::line).toList());
        return record;
    }

    /** Returns kind, text and evidence: the columns of sql/queries/advice_by_load.sql. */
    private static String line(Advice advice) {
        String kind = advice.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        String table = advice.table().isEmpty() ? "" : advice.table() + ": ";
        return kind + " · " + table + advice.text() + " · " + advice.evidence();
    }

    private static void addTables(Plan plan, StatementPlan record) {
        List<String> tables = new ArrayList<>();
        List<String> accessTypes = new ArrayList<>();
        List<String> indexes = new ArrayList<>();
        for (PlanNode node : plan.nodes()) {
            if (node.isTable() && !node.access().isInternal()) {
                tables.add(node.access().alias());
                accessTypes.add(node.access().type().label());
                indexes.add(node.access().index());
            }
        }
        record.setTables(tables);
        record.setAccessTypes(accessTypes);
        record.setIndexes(indexes);
    }
}
