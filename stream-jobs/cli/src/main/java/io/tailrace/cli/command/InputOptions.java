package io.tailrace.cli.command;

import io.tailrace.cli.input.ByteAccounting;
import io.tailrace.cli.input.InputFiles;
import io.tailrace.cli.input.LogEventHandler;
import io.tailrace.cli.input.LogFile;
import io.tailrace.cli.input.LogReader;
import io.tailrace.cli.input.TruncationTolerantInputStream;
import io.tailrace.cli.terminal.ProgressBar;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import io.tailrace.innodb.RedoLogCapacities;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The options for the input files, and for properties that their bytes do not contain. */
final class InputOptions {

    /** Receives the contents of the files. */
    interface Reader extends LogEventHandler {

        /** Returns why logs of this kind (slowlog, audit, general, errorlog) are not accepted; empty if they are. */
        default String refusal(String source) {
            return "";
        }

        /** Returns the number of threads that read a file. */
        default int threads() {
            return 1;
        }

        /** Called after a file was read completely. */
        void read(LogFile file, LogFormat format, ByteAccounting accounts);
    }

    /** Number of bytes at the start of a file by which its format is detected. */
    private static final int HEAD = 64 << 10;

    private FormatRegistry formats;
    private ProgressBar progress;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE",
            description = "Log files, plain, gzip or Zstandard, and patterns such as 'slow.log*'; - is standard input,"
                    + " which is the default.")
    private List<String> names = new ArrayList<>();

    @Option(
            names = "--format",
            defaultValue = "auto",
            paramLabel = "NAME",
            description = "Name of the files' format. Default: detected from their first lines.")
    private String format;

    @Option(
            names = "--innodb-log-capacity",
            defaultValue = "0",
            paramLabel = "BYTES",
            description = "Size of InnoDB's redo log, to rate the age of checkpoints in the monitor's output. Default:"
                    + " the size in the output.")
    private long innoDbLogCapacity;

    @Option(
            names = "--tz",
            paramLabel = "ZONE",
            description = "IANA time zone of times without one in logs and options. Default: that of this machine.")
    private String zone;

    @Option(
            names = "--instance",
            defaultValue = "local",
            paramLabel = "NAME",
            description = "Name of the server. Event ids depend on it. Default: ${DEFAULT-VALUE}.")
    private String instance;

    /** Returns the time zone of local times. Throws a usage error if it is invalid. */
    ZoneId zone() {
        try {
            return zone == null ? ZoneId.systemDefault() : ZoneId.of(zone);
        } catch (DateTimeException e) {
            throw usage("--tz expects an IANA zone such as Europe/Berlin, found " + zone);
        }
    }

    /** Reads every file in turn; returns false if one cannot be read or its bytes do not balance. */
    boolean read(Terminal terminal, Reader reader) {
        formats = new FormatRegistry(RedoLogCapacities.ofAll(innoDbLogCapacity));
        if (!"auto".equals(format) && formats.named(format).isEmpty()) {
            throw usage("--format expects one of " + formatNames() + ", found " + format);
        }
        zone();
        List<String> unmatched = new ArrayList<>();
        List<LogFile> files = InputFiles.of(names(terminal), unmatched);
        progress = new ProgressBar(terminal.err(), terminal.screen().err(), size(files), System::nanoTime);
        boolean all = unmatched.isEmpty();
        unmatched.forEach(pattern -> terminal.note(pattern + ": no such file"));
        for (LogFile file : files) {
            all &= read(file, terminal, reader);
        }
        progress.clear();
        return all;
    }

    private List<String> names(Terminal terminal) {
        if (names.isEmpty() && terminal.screen().in()) {
            throw usage("expected the name of a log file, or a log on standard input");
        }
        return names.isEmpty() ? List.of(LogFile.STANDARD_INPUT) : names;
    }

    private static long size(List<LogFile> files) {
        long total = 0;
        for (LogFile file : files) {
            long size = file.size();
            if (size < 0 && file.isStandardInput()) {
                return -1;
            }
            total += Math.max(0, size);
        }
        return total;
    }

    private boolean read(LogFile file, Terminal terminal, Reader reader) {
        try (InputStream in = file.open(progress.counting(file.raw(terminal.in())))) {
            return read(file, in, terminal, reader);
        } catch (IOException | InvalidPathException e) {
            note(terminal, file.name() + ": cannot be read: " + reason(e));
            return false;
        }
    }

    private boolean read(LogFile file, InputStream in, Terminal terminal, Reader reader) throws IOException {
        TruncationTolerantInputStream tolerant = new TruncationTolerantInputStream(in);
        byte[] head = tolerant.readNBytes(HEAD);
        if (head.length == 0 && tolerant.failure() == null) {
            note(terminal, file.name() + ": empty, 0 bytes = 0 events");
            return true;
        }
        Optional<LogFormat> found = formats.detect("", format, head);
        if (found.isEmpty()) {
            note(terminal, file.name() + ": " + unknown(tolerant));
            return false;
        }
        String refusal = reader.refusal(FormatRegistry.sourceOf(found.get()));
        if (!refusal.isEmpty()) {
            note(terminal, file.name() + ": " + refusal);
            return false;
        }
        return read(file, head, tolerant, found.get(), terminal, reader);
    }

    private String unknown(TruncationTolerantInputStream in) {
        return in.failure() != null
                ? "cannot be read: " + reason(in.failure())
                : "unknown format; set --format to one of " + formatNames();
    }

    private boolean read(
            LogFile file,
            byte[] head,
            TruncationTolerantInputStream in,
            LogFormat found,
            Terminal terminal,
            Reader reader)
            throws IOException {
        LogOrigin origin = new LogOrigin(
                "", instance, FormatRegistry.sourceOf(found), found.name(), zone().getId(), file.canonicalPath());
        ByteAccounting accounts = new LogReader(head, in, found, origin, reader).read(reader.threads());
        progress.clear();
        reader.read(file, found, accounts);
        if (in.failure() != null) {
            note(terminal, file.name() + ": ends early after " + accounts.size + " bytes: " + reason(in.failure()));
        }
        return accounts.balance() && in.failure() == null;
    }

    private void note(Terminal terminal, String text) {
        progress.clear();
        terminal.note(text);
    }

    /** Returns the reason as one clause. */
    static String reason(Exception failure) {
        if (failure instanceof NoSuchFileException || failure instanceof FileNotFoundException) {
            return "no such file";
        }
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message;
    }

    private String formatNames() {
        return formats.all().stream().map(LogFormat::name).collect(Collectors.joining(", "));
    }

    CommandLine.ParameterException usage(String message) {
        return new CommandLine.ParameterException(command.commandLine(), message);
    }
}
