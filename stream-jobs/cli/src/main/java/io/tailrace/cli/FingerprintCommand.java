package io.tailrace.cli;

import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.StatementShape;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.InvalidPathException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes the class of each statement. */
@Command(name = "fingerprint", description = "Reads statements, one per line, and writes query_id<TAB>fingerprint.")
final class FingerprintCommand implements Callable<Integer> {

    private final Terminal terminal;
    private final Fingerprinter fingerprinter = new Fingerprinter();

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE",
            defaultValue = "-",
            description = "Files with statements, plain, gzip or Zstandard; - is standard input, which is the default.")
    private List<String> names;

    @Option(names = "-0", description = "Statements end with a NUL byte and may hold line feeds.")
    private boolean nulSeparated;

    FingerprintCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        List<String> unmatched = new ArrayList<>();
        List<LogFile> files = FileNames.of(names, unmatched);
        boolean read = unmatched.isEmpty();
        unmatched.forEach(pattern -> terminal.note(pattern + ": no file has such a name"));
        for (LogFile file : files) {
            read &= read(file);
        }
        terminal.out().flush();
        return read ? 0 : 1;
    }

    private boolean read(LogFile file) {
        try (InputStream in = file.open(file.raw(terminal.in()))) {
            statements(in, nulSeparated ? 0 : '\n');
            return true;
        } catch (IOException | InvalidPathException e) {
            terminal.note(file.name() + ": cannot be read: " + InputOptions.reason(e));
            return false;
        }
    }

    private void statements(InputStream in, int separator) throws IOException {
        ByteArrayOutputStream statement = new ByteArrayOutputStream();
        int next = in.read();
        while (next >= 0) {
            if (next == separator) {
                print(statement.toByteArray());
                statement.reset();
            } else {
                statement.write(next);
            }
            next = in.read();
        }
        if (statement.size() > 0) {
            print(statement.toByteArray());
        }
    }

    private void print(byte[] statement) {
        StatementShape shape = fingerprinter.statement(statement, 0, statement.length);
        terminal.out()
                .append(shape.queryIdText())
                .append('\t')
                .append(ParseCommand.oneLine(shape.fingerprint()))
                .append('\n');
    }
}
