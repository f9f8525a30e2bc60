package io.tailrace.flink.parsing;

import io.tailrace.cache.BoundedCache;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.StatementPlan;
import io.tailrace.plan.Plan;
import io.tailrace.plan.reader.TabularPlanReader;
import io.tailrace.plan.record.PlanRecords;
import io.tailrace.plan.shape.PlanHash;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Extracts the plans that MariaDB logs with executions ({@code log_slow_verbosity=explain}). Executions of one statement
 * mostly have the same rows, so the plans of the latest different rows are cached. Not thread-safe.
 */
final class LoggedPlanExtractor {

    private static final Logger LOG = LoggerFactory.getLogger(LoggedPlanExtractor.class);

    static final String SOURCE = "slowlog";

    /** Maximum number of cached plans. */
    static final int MAX_CACHED = 512;

    /** Longest rows whose plan is cached, characters. */
    private static final int MAX_CACHED_LENGTH = 4096;

    /** A plan and its hash; both may be missing. */
    private record ReadPlan(Optional<Plan> plan, String hash) {}

    private final Map<String, ReadPlan> cached = new BoundedCache<>(MAX_CACHED);

    private final TabularPlanReader rows = new TabularPlanReader();
    private final PlanRecords records = new PlanRecords();

    /** Returns the logged plan of an execution, and sets the event's hash of it. */
    Optional<Plan> of(QueryEvent event) {
        String explain = event.getExplain();
        if (explain.isEmpty()) {
            return Optional.empty();
        }
        ReadPlan known = cached.get(explain);
        ReadPlan read = known == null ? read(explain) : known;
        if (known == null && explain.length() <= MAX_CACHED_LENGTH) {
            cached.put(explain, read);
        }
        event.setPlanHash(read.hash());
        return read.plan();
    }

    private ReadPlan read(String explain) {
        try {
            Optional<Plan> plan = rows.read(List.of(explain.split("\n")));
            return new ReadPlan(plan, plan.map(PlanHash::of).orElse(""));
        } catch (RuntimeException e) {
            // No known version writes such rows. The event is complete without its plan and must not stop its log.
            LOG.debug("rows that are not a plan", e);
            return new ReadPlan(Optional.empty(), "");
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
