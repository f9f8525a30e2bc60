package io.tailrace.cli.command;

import io.tailrace.cli.help.HelpTexts;
import io.tailrace.cli.output.NavigatorLayer;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Writes the techniques that rules and detectors detect as a layer of MITRE's ATT&amp;CK Navigator. */
@HelpTexts(
        examples = {"tailrace rules navigator --rules rules > layer.json"},
        seeAlso = {"tailrace rules", "docs/DETECTION.md"})
@Command(
        name = "navigator",
        description = {
            "Writes the ATT&CK techniques of rules and detectors as a layer for MITRE's ATT&CK Navigator.",
            "The score of a technique is the number of rules, correlations and detectors with its tag that raise"
                    + " alerts. Whether a server logs the necessary events is another question: see"
                    + " `tailrace rules coverage`."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:the layer is complete",
            "1:a rule was refused, or a file could not be read",
            "2:the command line is invalid"
        })
public final class RuleNavigatorCommand implements Callable<Integer> {

    private static final int FAILED = 1;

    private final Terminal terminal;

    @Mixin
    private RuleOptions rules;

    @Option(
            names = "--by-level",
            description = "Score techniques by the highest level of their rules: 1 (informational) to 5 (critical).")
    private boolean byLevel;

    public RuleNavigatorCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try {
            RuleContext context = rules.context(new DatabaseFieldMapping());
            RuleSet set = rules.read(context, terminal);
            DetectorConfig detectors = rules.detectors(null, context, terminal);
            boolean accepted = rules.reportRefused(terminal);
            terminal.out()
                    .append(NavigatorLayer.of(alerting(set, detectors), byLevel))
                    .append('\n');
            return set.errors().isEmpty() && detectors.errors().isEmpty() && accepted ? 0 : FAILED;
        } catch (IOException e) {
            terminal.note("cannot read the rules: " + e.getMessage() + ": " + InputOptions.reason(e));
            return FAILED;
        }
    }

    private static List<RuleHeader> alerting(RuleSet set, DetectorConfig detectors) {
        return Stream.concat(
                        set.alerting().stream(), detectors.detectors().stream().map(StatefulDetector::header))
                .filter(header -> header.level() != Level.INFORMATIONAL)
                .toList();
    }
}
