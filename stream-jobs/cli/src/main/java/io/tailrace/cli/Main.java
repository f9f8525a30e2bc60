package io.tailrace.cli;

import io.tailrace.cli.command.DetectCommand;
import io.tailrace.cli.command.DigestCommand;
import io.tailrace.cli.command.FingerprintCommand;
import io.tailrace.cli.command.ParseCommand;
import io.tailrace.cli.command.PlanCommand;
import io.tailrace.cli.command.RuleBacktestCommand;
import io.tailrace.cli.command.RuleCoverageCommand;
import io.tailrace.cli.command.RuleNavigatorCommand;
import io.tailrace.cli.command.RulesCommand;
import io.tailrace.cli.help.CommandDescription;
import io.tailrace.cli.help.HelpRenderer;
import io.tailrace.cli.help.Suggestion;
import io.tailrace.cli.help.Version;
import io.tailrace.cli.terminal.OutputClosedException;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.cli.terminal.TerminalCapabilities;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line, which runs the code of the pipeline on files, without a server. */
@Command(
        name = "tailrace",
        description = "Reads the logs of MySQL, Percona Server and MariaDB.",
        mixinStandardHelpOptions = true,
        version = "tailrace " + Version.VERSION,
        scope = ScopeType.INHERIT,
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:all files were read, and all bytes are accounted for",
            "1:a file could not be read, has no known format, or its bytes do not balance",
            "2:the command line is invalid",
            "141:the reader of standard output closed it, as in `| head`"
        })
public final class Main {

    private static final int BUFFER = 1 << 16;
    /** The only section of picocli's help, which contains all of ours. */
    private static final String HELP = "help";

    private static final int FAILED = 1;
    private static final int USAGE = 2;
    /** The exit code that shells report for a program that SIGPIPE ended. */
    private static final int BROKEN_PIPE = 141;

    private Main() {}

    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(
                new BufferedOutputStream(
                        OutputClosedException.reportingClosed(new FileOutputStream(FileDescriptor.out)), BUFFER),
                false,
                StandardCharsets.UTF_8);
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        Terminal terminal = new Terminal(System.in, out, err, TerminalCapabilities.of(System.getenv()));
        System.exit(run(terminal, Clock.systemUTC(), arguments));
    }

    /** Runs one command and returns its exit code. */
    public static int run(Terminal terminal, Clock clock, String... arguments) {
        try {
            int exit = execute(terminal, clock, arguments);
            terminal.out().flush();
            return exit;
        } catch (OutputClosedException e) {
            return lost(terminal, e);
        }
    }

    /** Returns the parser of all commands, without the handling of errors. */
    public static CommandLine commandLine(Terminal terminal, Clock clock) {
        CommandLine line = new CommandLine(new Main());
        line.addSubcommand(new ParseCommand(terminal));
        line.addSubcommand(new DigestCommand(terminal, clock));
        line.addSubcommand(new FingerprintCommand(terminal));
        line.addSubcommand(new PlanCommand(terminal));
        line.addSubcommand(new DetectCommand(terminal, clock));
        line.addSubcommand(new CommandLine(new RulesCommand(terminal, clock))
                .addSubcommand(new RuleBacktestCommand(terminal, clock))
                .addSubcommand(new RuleCoverageCommand(terminal))
                .addSubcommand(new RuleNavigatorCommand(terminal)));
        return line;
    }

    private static int execute(Terminal terminal, Clock clock, String... arguments) {
        CommandLine line = commandLine(terminal, clock);
        line.setOut(new PrintWriter(terminal.out(), true, StandardCharsets.UTF_8));
        line.setErr(new PrintWriter(terminal.err(), true, StandardCharsets.UTF_8));
        line.setParameterExceptionHandler((failure, words) -> {
            terminal.note("tailrace: " + message(failure));
            terminal.note("see: " + failure.getCommandLine().getCommandSpec().qualifiedName() + " --help");
            return USAGE;
        });
        int columns = terminal.screen().columns();
        line.setHelpSectionKeys(List.of(HELP));
        line.setHelpSectionMap(
                Map.of(HELP, help -> HelpRenderer.render(CommandDescription.of(help.commandSpec()), columns)));
        line.setExecutionStrategy(new CommandLine.RunLast());
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            if (failure instanceof OutputClosedException lost) {
                return lost(terminal, lost);
            }
            throw failure;
        });
        return arguments.length == 0 ? line.execute("--help") : line.execute(arguments);
    }

    /** Returns what is wrong with a command line; for a misspelt name with the most similar one. */
    private static String message(ParameterException failure) {
        CommandSpec command = failure.getCommandLine().getCommandSpec();
        if (!(failure instanceof UnmatchedArgumentException unmatched)) {
            return failure.getMessage();
        }
        String given = unmatched.getUnmatched().get(0);
        if (given.startsWith("-")) {
            return Suggestion.unknown("option", given.replaceFirst("=.*", ""), longNames(command));
        }
        return command.subcommands().isEmpty()
                ? "unexpected argument '" + given + "'"
                : Suggestion.unknown("subcommand", given, command.subcommands().keySet());
    }

    private static List<String> longNames(CommandSpec command) {
        return command.options().stream().map(OptionSpec::longestName).toList();
    }

    private static int lost(Terminal terminal, OutputClosedException lost) {
        if (lost.isBrokenPipe()) {
            return BROKEN_PIPE;
        }
        terminal.note("cannot write to standard output: " + lost.getCause().getMessage());
        return FAILED;
    }
}
