package io.tailrace.cli.command;

import io.tailrace.cli.help.HelpTexts;
import io.tailrace.cli.input.RuleFiles;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleException;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Checks rules without a log. */
@HelpTexts(
        examples = {
            "tailrace rules check rules",
            "tailrace rules coverage --rules rules /var/log/mysql/audit.log",
            "tailrace rules navigator --rules rules > layer.json",
            "tailrace rules push rules"
        },
        seeAlso = {"tailrace detect", "tailrace alerts", "docs/DETECTION.md"})
@Command(
        name = "rules",
        description = "Checks detection rules and pushes them to the detect job.",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:success",
            "1:a rule was refused, or a file could not be read",
            "2:the command line is invalid"
        },
        synopsisSubcommandLabel = "COMMAND")
public final class RulesCommand {

    private static final int FAILED = 1;
    private static final long MICROS_PER_MILLI = 1000;

    private final Terminal terminal;
    private final Clock clock;

    public RulesCommand(Terminal terminal, Clock clock) {
        this.terminal = terminal;
        this.clock = clock;
    }

    /** Compiles rules. */
    @HelpTexts(
            examples = {"tailrace rules check rules"},
            seeAlso = {"tailrace rules", "docs/DETECTION.md"})
    @Command(
            name = "check",
            description = {
                "Compiles Sigma rules and lists those that are refused, with place and reason.",
                "It also lists rules whose meaning may be unintended, and expired exceptions."
            },
            exitCodeListHeading = "Exit codes:%n",
            exitCodeList = {
                "0:all rules were compiled",
                "1:a rule was refused, an exception has expired, or a file could not be read",
                "2:the command line is invalid"
            })
    int check(
            @Option(
                            names = "--allow-expired",
                            description = "Report expired exceptions, but do not fail because of them.")
                    boolean allowExpired,
            @Parameters(
                            arity = "1..*",
                            paramLabel = "PATH",
                            description = "Files, or directories with files that end with .yml or .yaml.")
                    List<Path> paths) {
        try {
            List<RuleError> refused = new ArrayList<>();
            RuleContext context = RuleFiles.context(paths, new DatabaseFieldMapping(), refused::add);
            refused.forEach(error -> terminal.note(error.toString()));
            RuleSet rules = RuleFiles.read(paths, context, terminal);
            terminal.out().append(RuleFiles.summary(rules)).append('\n');
            List<RuleException> expired = rules.exceptions().expiredAt(clock.millis() * MICROS_PER_MILLI);
            expired.forEach(exception -> terminal.note(exception.expiry().toString()));
            return rules.errors().isEmpty() && refused.isEmpty() && (allowExpired || expired.isEmpty()) ? 0 : FAILED;
        } catch (IOException e) {
            terminal.note("cannot read the rules: " + e.getMessage() + ": " + InputOptions.reason(e));
            return FAILED;
        }
    }
}
