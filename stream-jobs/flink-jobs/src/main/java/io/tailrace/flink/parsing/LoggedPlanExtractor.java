package io.tailrace.flink.parsing;

import io.tailrace.event.QueryEvent;
import io.tailrace.event.StatementPlan;
import io.tailrace.plan.Plan;
import io.tailrace.plan.reader.TabularPlanReader;
import io.tailrace.plan.record.PlanRecords;
import io.tailrace.plan.shape.PlanHash;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Extracts the plans that MariaDB logs with executions ({@code log_slow_verbosity=explain}). Not thread-safe. */
final class LoggedPlanExtractor {

    private static final Logger LOG = LoggerFactory.getLogger(LoggedPlanExtractor.class);

    static final String SOURCE = "slowlog";

    private final TabularPlanReader rows = new TabularPlanReader();
    private final PlanRecords records = new PlanRecords();

    /** Returns the logged plan of an execution. */
    Optional<Plan> of(QueryEvent event) {
        if (event.getExplain().isEmpty()) {
            return Optional.empty();
        }
        try {
            Optional<Plan> plan = rows.read(List.of(event.getExplain().split("\n")));
            plan.ifPresent(read -> event.setPlanHash(PlanHash.of(read)));
            return plan;
        } catch (RuntimeException e) {
            // No known version writes such rows. The event is complete without its plan and must not stop its log.
            LOG.debug("rows that are not a plan", e);
            return Optional.empty();
        }
    }

    /** Returns the row of the plan without the event's literals: logged plans contain none. */
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
