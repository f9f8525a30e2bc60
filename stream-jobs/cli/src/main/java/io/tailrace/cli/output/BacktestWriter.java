package io.tailrace.cli.output;

import io.tailrace.cli.backtest.BacktestResults;
import io.tailrace.cli.backtest.RuleResult;
import io.tailrace.cli.backtest.RuleSelection;
import io.tailrace.detection.sigma.rule.RuleException;
import io.tailrace.detection.sigma.rule.RuleHeader;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Writes the results of a backtest as rows of one form, whose section states what a row is about. */
public final class BacktestWriter {

    /** The keys of a row. */
    public static final List<String> KEYS =
            List.of("section", "rule_id", "rule", "item", "alerts", "against", "alert_id", "detail");

    private final Consumer<List<String>> rows;
    private final boolean isComparing;
    private final int maxEntities;

    /** @param isComparing whether there are two versions; otherwise {@code against} is empty */
    public BacktestWriter(Consumer<List<String>> rows, boolean isComparing, int maxEntities) {
        this.rows = rows;
        this.isComparing = isComparing;
        this.maxEntities = maxEntities;
    }

    /** Writes a property of the run. */
    public void run(String item, String detail) {
        row("run", "", "", item, "", "", "", detail);
    }

    /** Writes all results, and the rules that could not be judged. */
    public void write(BacktestResults results, List<RuleSelection> versions) {
        results.rules().forEach(this::rule);
        exceptions(results, versions.get(0));
        for (RuleResult rule : results.rules()) {
            days(rule);
            entities(rule);
            samples("sample", rule, rule.samples());
            if (isComparing) {
                samples("added", rule, rule.added());
                samples("removed", rule, rule.removed());
            }
        }
        for (int i = 0; i < versions.size(); i++) {
            String version = i == 0 ? "" : "against";
            versions.get(i).notJudged().forEach((rule, reason) -> notJudged(rule, version, reason));
        }
    }

    private void rule(RuleResult rule) {
        String detail = "raised " + rule.raised(0);
        if (isComparing) {
            detail += ", against " + rule.raised(1) + "; added " + rule.addedAlerts() + ", removed "
                    + rule.removedAlerts();
        }
        RuleHeader header = rule.header();
        counts("rule", rule, header.level().name().toLowerCase(Locale.ROOT), rule.alerts(0), rule.alerts(1), detail);
    }

    /** Writes the exceptions of the tested version that suppressed matches, and those of the tested rules. */
    private void exceptions(BacktestResults results, RuleSelection version) {
        Map<String, RuleHeader> tested = results.rules().stream()
                .map(RuleResult::header)
                .collect(Collectors.toMap(RuleHeader::key, header -> header, (first, second) -> first));
        for (RuleException exception : version.rules().exceptions().all()) {
            long matches = results.suppressed().getOrDefault(exception.title(), 0L);
            RuleHeader rule = tested.get(exception.rule());
            if (rule != null || matches > 0) {
                row(
                        "exception",
                        exception.rule(),
                        rule == null ? "" : rule.title(),
                        exception.title(),
                        Long.toString(matches),
                        "",
                        "",
                        "suppressed matches; until " + exception.expires() + ", owner " + exception.owner());
            }
        }
    }

    private void days(RuleResult rule) {
        for (Map.Entry<String, long[]> day : rule.days().entrySet()) {
            counts("day", rule, day.getKey(), day.getValue()[0], day.getValue()[1], "");
        }
    }

    private void entities(RuleResult rule) {
        for (RuleResult.Entity entity : rule.topEntities(maxEntities)) {
            counts("entity", rule, entity.key(), entity.alerts(), entity.against(), "");
        }
    }

    private void samples(String section, RuleResult rule, List<RuleResult.Sample> samples) {
        for (RuleResult.Sample sample : samples) {
            String detail = sample.entity() + " " + sample.detail();
            row(section, rule.header(), sample.time(), "", "", sample.alertId(), detail.strip());
        }
    }

    /** Writes why a rule has no result. */
    public void notJudged(RuleHeader rule, String version, String reason) {
        row("not_judged", rule, version, "", "", "", "cannot be judged: " + reason);
    }

    private void counts(String section, RuleResult rule, String item, long alerts, long against, String detail) {
        row(section, rule.header(), item, Long.toString(alerts), isComparing ? Long.toString(against) : "", "", detail);
    }

    private void row(
            String section, RuleHeader rule, String item, String alerts, String against, String id, String detail) {
        row(section, rule.key(), rule.title(), item, alerts, against, id, detail);
    }

    private void row(String... values) {
        rows.accept(List.of(values).stream().map(Escaping::oneLine).toList());
    }
}
