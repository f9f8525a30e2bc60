package io.tailrace.parse;

import io.tailrace.event.QueryEvent;
import io.tailrace.event.StatementPlan;
import io.tailrace.plan.Plan;
import io.tailrace.plan.PlanHash;
import io.tailrace.plan.PlanRecords;
import io.tailrace.plan.RowsReader;
import java.util.List;
import java.util.Optional;

/** The plans that MariaDB writes beside executions ({@code log_slow_verbosity=explain}). Not thread-safe. */
final class LoggedPlans {

    static final String SOURCE = "slowlog";

    private final RowsReader rows = new RowsReader();
    private final PlanRecords records = new PlanRecords();

    /** The plan that the log says of an execution. */
    Optional<Plan> of(QueryEvent event) {
        if (event.getExplain().isEmpty()) {
            return Optional.empty();
        }
        Optional<Plan> plan = rows.read(List.of(event.getExplain().split("\n")));
        plan.ifPresent(read -> event.setPlanHash(PlanHash.of(read)));
        return plan;
    }

    /** Its row, without the event's literals: plans of the log hold none. */
    StatementPlan record(QueryEvent event, Plan plan) {
        StatementPlan record = records.of(plan);
        record.setCluster(event.getCluster());
        record.setInstance(event.getInstance());
        record.setQueryId(event.getQueryId());
        record.setSource(SOURCE);
        record.setSeenAt(event.getEventTime());
        record.setDatabase(event.getDatabase());
        return record;
    }
}
