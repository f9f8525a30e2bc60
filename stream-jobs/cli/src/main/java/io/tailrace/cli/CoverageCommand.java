package io.tailrace.cli;

import io.tailrace.detection.coverage.RuleCoverage;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.RuleContext;
import io.tailrace.detection.sigma.RuleHeader;
import io.tailrace.detection.sigma.RuleSet;
import io.tailrace.detection.taxonomy.DatabaseField;
import io.tailrace.detection.taxonomy.DatabaseFields;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Says which rules can never fire on a log. */
@Command(
        name = "coverage",
        description = "Reads logs and says which rules can never fire on each, because no event has a field that they"
                + " need or is of their class: file, rule and reason, tabs between.",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:all was read",
            "1:a rule was refused, or a file could not be read",
            "2:the command line is wrong"
        })
final class CoverageCommand implements Callable<Integer>, InputOptions.Reader, DetectionSink {

    private static final int FAILED = 1;

    private final Terminal terminal;
    private RuleSet ruleSet;
    private final Set<String> fields = new HashSet<>();
    private final Set<String> eventClasses = new HashSet<>();
    private LogSource source = LogSource.ANY;

    @Mixin
    private InputOptions input;

    @Option(
            names = "--rules",
            required = true,
            paramLabel = "PATH",
            description = "Files with rules, or directories with files that end with .yml or .yaml.")
    private List<Path> rules;

    CoverageCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try {
            ruleSet = RuleFiles.read(rules, new RuleContext(Map.of(), new DatabaseFields()), terminal);
            boolean read = input.read(terminal, this);
            return read && ruleSet.errors().isEmpty() ? 0 : FAILED;
        } catch (IOException e) {
            terminal.note("rules cannot be read: " + e.getMessage() + ": " + InputOptions.reason(e));
            return FAILED;
        }
    }

    @Override
    public void read(LogFile file, LogFormat format, Accounts accounts) {
        Map<String, String> obstacles = new RuleCoverage(source, fields, eventClasses).obstacles(ruleSet);
        List<RuleHeader> alerting = alerting();
        long able = 0;
        for (RuleHeader rule : alerting) {
            String obstacle = obstacles.get(rule.key());
            if (obstacle == null) {
                able++;
            } else {
                terminal.out().append(String.join("\t", file.name(), rule.title(), obstacle) + "\n");
            }
        }
        terminal.note(file.name() + ": " + format.name() + ", " + able + " of " + alerting.size() + " rules can fire");
        fields.clear();
        eventClasses.clear();
    }

    private List<RuleHeader> alerting() {
        return Stream.concat(
                        ruleSet.rules().stream().filter(rule -> rule.alerts()).map(rule -> rule.header()),
                        ruleSet.correlations().stream()
                                .filter(rule -> rule.alerts())
                                .map(rule -> rule.header()))
                .toList();
    }

    @Override
    public void event(DetectionEvent event) {
        source = event.source();
        fields.addAll(event.fields().keySet());
        event.values(DatabaseField.EVENT_CLASS.fieldName()).forEach(value -> eventClasses.add(value.text()));
    }

    @Override
    public void deadLetter(Refusal refusal) {}
}
