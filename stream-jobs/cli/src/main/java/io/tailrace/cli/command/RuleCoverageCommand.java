package io.tailrace.cli.command;

import io.tailrace.cli.help.HelpTexts;
import io.tailrace.cli.input.ByteAccounting;
import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.LogFile;
import io.tailrace.cli.terminal.Plural;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.coverage.ObservedFields;
import io.tailrace.detection.coverage.RuleCoverageEvaluator;
import io.tailrace.detection.coverage.RuleCoverageResult;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists the rules that can never fire on a log. */
@HelpTexts(
        examples = {
            "tailrace rules coverage --rules rules /var/log/mysql/audit.log",
            "tailrace rules coverage --rules rules --output csv audit.log > coverage.csv"
        },
        seeAlso = {"tailrace rules", "tailrace detect", "docs/DETECTION.md"},
        keys = {"file: the log", "rule: title of the rule", "reason: why it cannot fire"})
@Command(
        name = "coverage",
        description = {
            "Reads logs and lists the rules that can never fire on each, with the reason.",
            "A rule cannot fire if no event has a field that it needs, or is of its class. A line contains file, rule"
                    + " and reason, separated by tabs."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:all input was read",
            "1:a rule was refused, or a file could not be read",
            "2:the command line is invalid"
        })
public final class RuleCoverageCommand implements Callable<Integer>, InputOptions.Reader, DetectionEventHandler {

    private static final int FAILED = 1;
    private static final List<String> KEYS = List.of("file", "rule", "reason");

    private final Terminal terminal;
    private boolean hasClasses;
    private long events;
    private RuleSet ruleSet;
    private ObservedFields contents = new ObservedFields();
    private LogSource source = LogSource.ANY;

    @Mixin
    private InputOptions input;

    @Mixin
    private RuleOptions rules;

    @Mixin
    private OutputOption output;

    @Option(
            names = "--data-classes",
            paramLabel = "FILE",
            description =
                    "File with the data classes. Default: data-classes.yaml in a directory of --rules, if it exists;"
                            + " \"\" for none.")
    private String dataClassFile;

    public RuleCoverageCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        output.check();
        try {
            terminal.out().append(output.header(KEYS));
            RuleContext context = rules.context(new DatabaseFieldMapping());
            RuleSet all = rules.read(context, terminal);
            ruleSet = RuleBundle.withoutReplaced(
                    all, rules.detectors(null, context, terminal).detectors());
            hasClasses = !rules.dataClasses(dataClassFile).isEmpty();
            boolean accepted = rules.reportRefused(terminal);
            boolean read = input.read(terminal, this);
            return read && ruleSet.errors().isEmpty() && accepted ? 0 : FAILED;
        } catch (IOException e) {
            terminal.note("cannot read the rules: " + e.getMessage() + ": " + InputOptions.reason(e));
            return FAILED;
        }
    }

    @Override
    public void read(LogFile file, LogFormat format, ByteAccounting accounts) {
        List<RuleCoverageResult> answers = RuleCoverageEvaluator.answers(ruleSet, hasClasses, Map.of(source, contents));
        long able = answers.stream().filter(RuleCoverageResult::canFire).count();
        for (RuleCoverageResult answer : answers) {
            answer.obstacle().ifPresent(obstacle -> terminal.out()
                    .append(output.row(
                            KEYS, List.of(file.name(), answer.rule().title(), "cannot fire: " + obstacle.reason()))));
        }
        terminal.note(file.name() + " (" + format.name() + ", " + Plural.of(events, "event") + "): " + able + " of "
                + Plural.of(answers.size(), "rule that raises alerts", "rules that raise alerts")
                + " can fire on logs like this one"
                + (able == answers.size() ? "" : "; the others are listed with the reason"));
        events = 0;
        contents = new ObservedFields();
        source = LogSource.ANY;
    }

    @Override
    public void event(DetectionEvent event) {
        events++;
        source = event.source();
        contents.add(event);
    }

    @Override
    public void deadLetter(Refusal refusal) {}
}
