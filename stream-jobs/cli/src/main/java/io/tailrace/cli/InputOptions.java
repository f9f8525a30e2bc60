package io.tailrace.cli;

import io.tailrace.formats.KnownFormats;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.IOException;
import java.io.InputStream;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The files that a command reads, and what their own bytes do not say about them. */
final class InputOptions {

    /** Bytes of a file's head by which its format is told. */
    private static final int HEAD = 64 << 10;

    private KnownFormats formats;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Log files, plain or gzip; - is standard input.")
    private List<String> names;

    @Option(
            names = "--format",
            defaultValue = "auto",
            paramLabel = "NAME",
            description = "Name of the files' format. Default: told by their first lines.")
    private String format;

    @Option(
            names = "--innodb-log-capacity",
            defaultValue = "0",
            paramLabel = "BYTES",
            description = "Size of InnoDB's redo log, for the age of checkpoints in the monitor's output. Default: as"
                    + " the output says.")
    private long innoDbLogCapacity;

    @Option(
            names = "--tz",
            paramLabel = "ZONE",
            description = "IANA zone of times that the log writes without one. Default: this machine's.")
    private String zone;

    @Option(
            names = "--instance",
            defaultValue = "local",
            paramLabel = "NAME",
            description = "Name of the server. Event ids depend on it. Default: ${DEFAULT-VALUE}.")
    private String instance;

    /** The zone of local times, checked. */
    ZoneId zone() {
        try {
            return zone == null ? ZoneId.systemDefault() : ZoneId.of(zone);
        } catch (DateTimeException e) {
            throw usage("--tz expects an IANA zone such as Europe/Berlin, found " + zone);
        }
    }

    /** Reads every file in turn; returns false where one has no known format or its books do not balance. */
    boolean read(Terminal terminal, LogSink sink) {
        formats = new KnownFormats(innoDbLogCapacity);
        if (!"auto".equals(format) && formats.named(format).isEmpty()) {
            throw usage("--format expects one of " + formatNames() + ", found " + format);
        }
        zone();
        boolean balanced = true;
        for (String name : names) {
            balanced &= read(new LogFile(name), terminal, sink);
        }
        return balanced;
    }

    private boolean read(LogFile file, Terminal terminal, LogSink sink) {
        try (InputStream in = file.open(terminal.in())) {
            byte[] head = in.readNBytes(HEAD);
            Optional<LogFormat> found = formats.detect("", format, head);
            if (head.length == 0) {
                terminal.note(file.name() + ": empty, 0 bytes = 0 events");
                return true;
            }
            if (found.isEmpty()) {
                terminal.note(file.name() + ": expected a log of the formats " + formatNames()
                        + ", found none of them in its first lines; --format names one");
                return false;
            }
            return read(file, head, in, found.get(), terminal, sink);
        } catch (IOException e) {
            terminal.note(file.name() + ": cannot be read: " + e);
            return false;
        }
    }

    private boolean read(LogFile file, byte[] head, InputStream in, LogFormat found, Terminal terminal, LogSink sink)
            throws IOException {
        LogOrigin origin = new LogOrigin(
                "", instance, KnownFormats.sourceOf(found), found.name(), zone().getId(), file.canonicalPath());
        Accounts accounts = new LogReader(head, in, found, origin, sink).read();
        terminal.note(accounts.describe(file.name(), found.name()));
        return accounts.balance();
    }

    private String formatNames() {
        return formats.all().stream().map(LogFormat::name).collect(Collectors.joining(", "));
    }

    private CommandLine.ParameterException usage(String message) {
        return new CommandLine.ParameterException(command.commandLine(), message);
    }
}
