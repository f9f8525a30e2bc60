package io.tailrace.cli;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ScopeType;

/** The command line: the pipeline's own code on files, without a server. */
@Command(
        name = "tailrace",
        description = "Reads the logs of MySQL, Percona Server and MariaDB.",
        mixinStandardHelpOptions = true,
        version = "tailrace 0.1.0",
        scope = ScopeType.INHERIT,
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:all was read and accounted for",
            "1:a file could not be read, has no known format, or its bytes do not balance",
            "2:the command line is wrong"
        })
public final class Main {

    private static final int BUFFER = 1 << 16;

    private Main() {}

    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), BUFFER),
                false,
                StandardCharsets.UTF_8);
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        int exit = run(System.in, out, err, arguments);
        out.flush();
        System.exit(exit);
    }

    /** Runs one command; returns its exit code. */
    static int run(InputStream in, PrintStream out, PrintStream err, String... arguments) {
        Terminal terminal = new Terminal(in, out, err);
        CommandLine line = new CommandLine(new Main());
        line.addSubcommand(new ParseCommand(terminal));
        line.addSubcommand(new DigestCommand(terminal));
        line.addSubcommand(new FingerprintCommand(terminal));
        line.setOut(new PrintWriter(out, true, StandardCharsets.UTF_8));
        line.setErr(new PrintWriter(err, true, StandardCharsets.UTF_8));
        line.setExecutionStrategy(new CommandLine.RunLast());
        return arguments.length == 0 ? line.execute("--help") : line.execute(arguments);
    }
}
