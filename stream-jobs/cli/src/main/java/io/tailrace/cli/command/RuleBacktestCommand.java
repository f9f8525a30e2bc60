package io.tailrace.cli.command;

import io.tailrace.cli.backtest.Backtest;
import io.tailrace.cli.backtest.BacktestResults;
import io.tailrace.cli.backtest.EventStore;
import io.tailrace.cli.backtest.Period;
import io.tailrace.cli.backtest.RuleSelection;
import io.tailrace.cli.help.HelpTexts;
import io.tailrace.cli.output.BacktestWriter;
import io.tailrace.cli.terminal.Plural;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.detection.dataclass.DataClasses;
import io.tailrace.detection.stored.StoredTable;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Evaluates rules, correlations and detectors on stored events. */
@HelpTexts(
        examples = {
            "tailrace rules backtest --since 7d",
            "tailrace rules backtest new_rule.yml --since 30d --instance shop-db-1",
            "tailrace rules backtest --against rules --rules changed-rules --output json"
        },
        seeAlso = {"tailrace rules", "tailrace detect", "docs/DETECTION.md"},
        keys = {
            "section: run, rule, exception, day, entity, sample, added, removed or not_judged",
            "rule_id: id of the rule, or its name or title",
            "rule: title of the rule",
            "item: level of the rule, day in UTC, entity, time of an alert, title of an exception, or property of the run",
            "alerts: alerts, grouped as in the table of alerts; of an exception, the matches that it suppressed",
            "against: alerts of the version of --against",
            "alert_id: id of a grouped alert, as in the table of alerts",
            "detail: numbers, reasons, or the statement of an alert"
        })
@Command(
        name = "backtest",
        description = {
            "Evaluates rules, correlations and detectors on the events that ClickHouse stores.",
            "It writes the alerts per rule, day and entity, with examples, the matches that exceptions suppressed, and the"
                    + " difference between two versions."
                    + " Rules that need a field which is not stored are listed as not judged."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:all events were read",
            "1:a rule was refused, or rules or events could not be read",
            "2:the command line is invalid",
            "3:no stack is running, and --clickhouse is missing"
        })
public final class RuleBacktestCommand implements Callable<Integer> {

    private static final int FAILED = 1;
    private static final String TIMES =
            "2026-11-21T02:49:03Z, 2026-11-21 02:49 or 2026-11-21 (in UTC), or 2h, 30m, 3d ago";
    /** Detectors learn for two weeks, and compare an hour with the same hour of earlier weeks. */
    private static final Duration WARM_UP_OF_DETECTORS = Duration.ofDays(28);

    private final Terminal terminal;
    private final Clock clock;

    @Spec
    private CommandSpec command;

    @Mixin
    private BacktestRules rules;

    @Mixin
    private StoreOptions store;

    @Mixin
    private OutputOption output;

    @Option(
            names = "--since",
            defaultValue = "30d",
            paramLabel = "TIME",
            description = "Only alerts from this time on: " + TIMES + ". Default: ${DEFAULT-VALUE}.")
    private String since;

    @Option(names = "--until", paramLabel = "TIME", description = "Only events before this time. Default: now.")
    private String until;

    @Option(
            names = "--warm-up",
            paramLabel = "SPAN",
            description =
                    "How much earlier to begin, so that correlations and detectors have a history, such as 14d; alerts"
                            + " of this time are not reported. Default: the longest window of a correlation, and 28d"
                            + " with detectors.")
    private String warmUp;

    @Option(
            names = "--instance",
            paramLabel = "NAME",
            description = "Only events of this server; may be repeated. Default: all servers.")
    private List<String> instances = new ArrayList<>();

    @Option(
            names = "--samples",
            defaultValue = "3",
            paramLabel = "N",
            description = "Number of examples per rule. Default: ${DEFAULT-VALUE}.")
    private int samples;

    @Option(
            names = "--top",
            defaultValue = "5",
            paramLabel = "N",
            description = "Number of entities per rule. Default: ${DEFAULT-VALUE}.")
    private int top;

    public RuleBacktestCommand(Terminal terminal, Clock clock) {
        this.terminal = terminal;
        this.clock = clock;
    }

    @Override
    public Integer call() {
        output.check();
        Instant now = clock.instant();
        Instant from = time("--since", since, now);
        Instant to = until == null ? now : time("--until", until, now);
        Instant warmUpFrom = warmUp == null ? null : time("--warm-up", warmUp, from);
        if (rules.isEmpty()) {
            throw new CommandLine.ParameterException(command.commandLine(), "expected --rules, or a file as RULE");
        }
        try {
            List<RuleSelection> versions = rules.versions(terminal);
            DataClasses classes = rules.dataClasses();
            Instant start = warmUpFrom == null ? from.minus(warmUp(versions)) : warmUpFrom;
            write(versions, classes, start, from, to);
            return rules.isAccepted() ? 0 : FAILED;
        } catch (IOException e) {
            terminal.note("the backtest has failed: " + InputOptions.reason(e));
            return FAILED;
        }
    }

    private Instant time(String option, String text, Instant relativeTo) {
        return TimeArgument.parse(text, ZoneOffset.UTC, relativeTo)
                .orElseThrow(() -> new CommandLine.ParameterException(
                        command.commandLine(), option + " expects " + TIMES + ", found " + text));
    }

    private static Duration warmUp(List<RuleSelection> versions) {
        long window =
                versions.stream().mapToLong(RuleSelection::longestWindow).max().orElse(0);
        boolean hasDetectors =
                versions.stream().anyMatch(version -> !version.detectors().isEmpty());
        Duration windows = Duration.of(window, ChronoUnit.MICROS);
        return hasDetectors && windows.compareTo(WARM_UP_OF_DETECTORS) < 0 ? WARM_UP_OF_DETECTORS : windows;
    }

    private void write(List<RuleSelection> versions, DataClasses classes, Instant start, Instant from, Instant to)
            throws IOException {
        BacktestResults results = new BacktestResults(micros(from), samples);
        versions.forEach(version -> version.judged().forEach(results::add));
        EventStore events = store.open();
        Period period = new Period(micros(start), micros(to), instances);
        Backtest.Reading reading =
                new Backtest(events, versions, classes).run(period, micros(clock.instant()), results);
        terminal.out().append(output.header(BacktestWriter.KEYS));
        BacktestWriter writer = new BacktestWriter(this::row, rules.isComparing(), top);
        run(reading, start, from, to).forEach(writer::run);
        reading.withoutEvents(versions.get(0))
                .forEach(rule -> writer.notJudged(rule, "", "no event of its kind of log is stored in this time"));
        writer.write(results, versions);
        if (reading.statementsMissing() > 0) {
            terminal.note("warning: the statements of " + Plural.of(reading.statementsMissing(), "event")
                    + " are not stored, or not readable: rules over statements could not be judged on them");
        }
    }

    private void row(List<String> values) {
        if (output.isTable()) {
            // The ids are for programs, and most rows have no value for some keys.
            List<String> shown =
                    values.stream().filter(value -> !value.isEmpty()).collect(Collectors.toList());
            boolean hasId = !values.get(1).isEmpty();
            if (hasId) {
                shown.remove(1);
            }
            terminal.out().append(OutputOption.line(shown));
        } else {
            terminal.out().append(output.row(BacktestWriter.KEYS, values));
        }
    }

    private static Map<String, String> run(Backtest.Reading reading, Instant start, Instant from, Instant to) {
        Map<String, String> run = new LinkedHashMap<>();
        run.put("since", from.toString());
        run.put("until", to.toString());
        run.put("warm_up_since", start.toString());
        run.put(
                "first_event",
                reading.first() == Long.MAX_VALUE
                        ? "no event is stored"
                        : "in the hour of " + Instant.EPOCH.plus(reading.first(), ChronoUnit.MICROS));
        for (Map.Entry<StoredTable, Long> table : reading.stored().entrySet()) {
            run.put("stored in " + table.getKey().table(), Long.toString(table.getValue()));
        }
        run.put("events_read", Long.toString(reading.read()));
        return run;
    }

    private static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }
}
