package io.tailrace.flink.parsing;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.QueryEvent;
import io.tailrace.plan.Plan;
import org.junit.jupiter.api.Test;

class LoggedPlanExtractorTest {

    private final LoggedPlanExtractor plans = new LoggedPlanExtractor();

    @Test
    void equalRowsAreReadOnce() {
        Plan first = plans.of(event("orders", 1)).orElseThrow();
        assertThat(plans.of(event("orders", 1))).containsSame(first);
        assertThat(plans.of(event("orders", 2)).orElseThrow().root()).isNotEqualTo(first.root());
        assertThat(plans.of(event("customers", 1)).orElseThrow().root()).isNotEqualTo(first.root());
    }

    @Test
    void eachEventGetsTheHashOfItsPlan() {
        String hash = hash(event("orders", 1));
        assertThat(hash).hasSize(16);
        assertThat(hash(event("orders", 1))).isEqualTo(hash);
        assertThat(hash(event("orders", 2))).as("other estimates").isEqualTo(hash);
        assertThat(hash(event("customers", 1))).isNotEqualTo(hash);
        assertThat(hash(explained(""))).isEmpty();
    }

    @Test
    void rowsThatAreNoPlanHaveNone() {
        for (int i = 0; i < 2; i++) {
            QueryEvent event = explained("id\tselect_type\ttable");
            assertThat(plans.of(event)).isEmpty();
            assertThat(event.getPlanHash()).isEmpty();
        }
    }

    @Test
    void theNumberOfCachedPlansIsLimited() {
        Plan first = plans.of(event("orders", 0)).orElseThrow();
        for (int rows = 1; rows <= LoggedPlanExtractor.MAX_CACHED; rows++) {
            plans.of(event("orders", rows));
        }
        Plan again = plans.of(event("orders", 0)).orElseThrow();
        assertThat(again).isNotSameAs(first);
        assertThat(again.root()).isEqualTo(first.root());
    }

    private String hash(QueryEvent event) {
        plans.of(event);
        return event.getPlanHash();
    }

    private static QueryEvent event(String table, int rows) {
        return explained("id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tExtra\n" + "1\tSIMPLE\t"
                + table + "\tref\tcustomer\tcustomer\t4\tconst\t" + rows + "\tUsing where");
    }

    private static QueryEvent explained(String explain) {
        QueryEvent event = new QueryEvent();
        event.setExplain(explain);
        event.setPlanHash("");
        return event;
    }
}
