package io.tailrace.cli.command;

import io.tailrace.cli.help.HelpTexts;
import io.tailrace.cli.input.InputFiles;
import io.tailrace.cli.input.LogFile;
import io.tailrace.cli.input.StatementSplitter;
import io.tailrace.cli.output.Escaping;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.lexer.SqlMode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.InvalidPathException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes the query id and the fingerprint of each statement. */
@HelpTexts(
        examples = {
            "echo 'select * from t where id in (1,2)' | tailrace fingerprint",
            "tailrace fingerprint statements.sql"
        },
        seeAlso = {"tailrace digest", "docs/FINGERPRINT.md"},
        keys = {"query_id: 16 hexadecimal digits", "fingerprint: the statement without literals"})
@Command(
        name = "fingerprint",
        description = {
            "Reads statements, one per line, and writes the query id and the fingerprint of each, separated by a tab.",
            "Line feeds, tabs and backslashes of a fingerprint are written as \\n, \\t and \\\\, other control"
                    + " characters as \\u001b."
        })
public final class FingerprintCommand implements Callable<Integer> {

    private static final List<String> KEYS = List.of("query_id", "fingerprint");

    private final Terminal terminal;
    private Fingerprinter fingerprinter;

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE",
            defaultValue = "-",
            description = "Files with statements, plain, gzip or Zstandard; - is standard input, which is the default.")
    private List<String> names;

    @Mixin
    private OutputOption output;

    @Option(names = "-0", description = "Statements end with a NUL byte and may contain line feeds.")
    private boolean nulSeparated;

    @Option(names = "--ansi-quotes", description = "The server's sql_mode has ANSI_QUOTES: \"a\" is a name.")
    private boolean ansiQuotes;

    @Option(names = "--no-backslash-escapes", description = "The server's sql_mode has NO_BACKSLASH_ESCAPES.")
    private boolean noBackslashEscapes;

    public FingerprintCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        output.check();
        terminal.out().append(output.header(KEYS));
        fingerprinter = new Fingerprinter(new SqlMode(ansiQuotes, noBackslashEscapes));
        List<String> unmatched = new ArrayList<>();
        List<LogFile> files = InputFiles.of(names, unmatched);
        boolean read = unmatched.isEmpty();
        unmatched.forEach(pattern -> terminal.note(pattern + ": no such file"));
        for (LogFile file : files) {
            read &= read(file);
        }
        terminal.out().flush();
        return read ? 0 : 1;
    }

    private boolean read(LogFile file) {
        try (InputStream in = file.open(file.raw(terminal.in()))) {
            new StatementSplitter(in, (byte) (nulSeparated ? 0 : '\n')).read(this::print);
            return true;
        } catch (IOException | InvalidPathException e) {
            terminal.note(file.name() + ": cannot be read: " + InputOptions.reason(e));
            return false;
        }
    }

    private void print(byte[] bytes, int from, int to) {
        NormalizedStatement shape = fingerprinter.statement(bytes, from, to);
        List<String> values = List.of(shape.queryIdText(), shape.fingerprint());
        String line = output.isTable()
                ? Escaping.columns(shape.queryIdText(), shape.fingerprint()) + '\n'
                : output.row(KEYS, values);
        terminal.out().append(line);
    }
}
