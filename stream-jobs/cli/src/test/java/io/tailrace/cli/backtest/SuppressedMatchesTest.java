package io.tailrace.cli.backtest;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.output.BacktestWriter;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SuppressedMatchesTest {

    private static final String RULES =
            """
            title: Export
            id: 5e2d0a64-6a5b-4e0a-9c5c-3d3d3c1f8a11
            name: export
            level: low
            logsource: {product: mysql, service: audit}
            detection: {selection: {verb: EXPORT}, condition: selection}
            ---
            title: Nightly export
            exception:
              rule: export
              selection: {user: etl}
              reason: its purpose
              owner: ann
              expires: 2099-01-01
            """;
    private static final long HOUR = 3_600_000_000L;
    private static final long FROM = 1_700_000_000_000_000L;

    @Test
    void matchesThatAnExceptionSuppressedInThePeriodAreCounted() {
        RuleSet rules = new RuleSetReader(new RuleContext(Map.of(), new DatabaseFieldMapping()))
                .text("rules.yml", RULES)
                .ruleSet();
        assertThat(rules.errors()).isEmpty();
        RuleSelection selection = RuleSelection.of(rules, List.of(), header -> true, header -> false);
        BacktestResults results = new BacktestResults(FROM, 3);
        selection.judged().forEach(results::add);
        BacktestVersion version = new BacktestVersion(
                selection, FROM, FROM + 9 * HOUR, (alert, entity) -> results.raise(0, alert, entity));
        version.detect(event(1, FROM - HOUR, "etl"));
        version.detect(event(2, FROM, "etl"));
        version.detect(event(3, FROM + HOUR, "ETL"));
        version.detect(event(4, FROM + HOUR, "mallory"));
        results.finish(version.suppressed());

        List<List<String>> rows = new ArrayList<>();
        new BacktestWriter(rows::add, false, 5).write(results, List.of(selection));
        assertThat(rows.stream().filter(row -> row.get(0).equals("exception")))
                .containsExactly(List.of(
                        "exception",
                        "5e2d0a64-6a5b-4e0a-9c5c-3d3d3c1f8a11",
                        "Export",
                        "Nightly export",
                        "2",
                        "",
                        "",
                        "suppressed matches; until 2099-01-01, owner ann"));
        assertThat(rows.stream().filter(row -> row.get(0).equals("rule")).map(row -> row.get(4)))
                .containsExactly("1");
    }

    private static DetectionEvent event(int id, long micros, String user) {
        return DetectionEvent.builder("e" + id, micros, new LogSource("database", "mysql", "audit"))
                .text("verb", "EXPORT")
                .text("user", user)
                .build();
    }
}
