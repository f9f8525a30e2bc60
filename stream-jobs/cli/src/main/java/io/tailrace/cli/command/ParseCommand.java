package io.tailrace.cli.command;

import io.tailrace.cli.help.HelpTexts;
import io.tailrace.cli.help.Version;
import io.tailrace.cli.input.ByteAccounting;
import io.tailrace.cli.input.LogFile;
import io.tailrace.cli.output.CsvRecords;
import io.tailrace.cli.output.Escaping;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.Stage;
import io.tailrace.framing.LogFormat;
import io.tailrace.identity.DeadLetterId;
import io.tailrace.json.AvroJsonWriter;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Writes the events of log files, one per line, and accounts for every byte. */
@HelpTexts(
        examples = {
            "tailrace parse slow.log",
            "tailrace parse --json --tz Europe/Berlin slow.log.1.gz > events.json",
            "tailrace parse --dead-letters letters.json audit.log"
        },
        seeAlso = {"tailrace digest", "docs/FORMATS.md", "docs/LEDGER.md"},
        keys = {
            "event_id: UUID of the event",
            "event_time: of the log (UTC)",
            "instance, source, log, entry_offset: the place of the entry",
            "the others: fields of the event, docs/FORMATS.md"
        })
@Command(
        name = "parse",
        description = {
            "Converts log files to events, one per line, and accounts for every byte on standard error.",
            "A table has time, user, database, seconds, query id and fingerprint. JSON and CSV have complete events.",
            "In a table, line feeds, tabs and backslashes of a value are written as \\n, \\t and \\\\, other control"
                    + " characters as \\u001b."
        })
public final class ParseCommand implements Callable<Integer>, InputOptions.Reader {

    /** Maximum number of raw bytes of a dead letter in a file. */
    private static final int MAX_RAW_LENGTH = 1 << 20;
    /** The same on standard error. */
    private static final int MAX_SHOWN_LENGTH = 1 << 10;

    private final Terminal terminal;
    private final AvroJsonWriter json = new AvroJsonWriter();
    private final CsvRecords records = new CsvRecords();
    private PrintStream deadLetterOut;

    @Mixin
    private InputOptions input;

    @Mixin
    private OutputOption output;

    @Option(
            names = "--dead-letters",
            paramLabel = "FILE",
            description = "File for dead letters, one JSON object per line; may contain secrets. Default: standard"
                    + " error, with --json as objects with at most 1 KiB of raw text, else without the text.")
    private Path deadLetters;

    public ParseCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        output.check();
        try (PrintStream out = deadLetters == null ? null : newFile(deadLetters)) {
            deadLetterOut = out;
            boolean read = input.read(terminal, this);
            terminal.out().flush();
            boolean kept = out == null || !out.checkError();
            if (!kept) {
                terminal.note(deadLetters + ": could not be written completely");
            }
            return read && kept ? 0 : 1;
        } catch (IOException e) {
            terminal.note(deadLetters + ": cannot be written: " + InputOptions.reason(e));
            return 1;
        }
    }

    private static PrintStream newFile(Path path) throws IOException {
        return new PrintStream(new BufferedOutputStream(Files.newOutputStream(path)), false, StandardCharsets.UTF_8);
    }

    @Override
    public void query(QueryEvent event, String fingerprint, String statement) {
        if (!output.isTable()) {
            record(json.write(event));
            return;
        }
        print(Escaping.columns(
                event.getEventTime().toString(),
                event.getUser(),
                event.getDatabase(),
                String.format(Locale.ROOT, "%.6f", event.getQueryTime()),
                String.format("%016X", event.getQueryId()),
                fingerprint));
    }

    @Override
    public void audit(AuditEvent event, String fingerprint, String statement) {
        if (!output.isTable()) {
            record(json.write(event));
            return;
        }
        Long queryId = event.getQueryId();
        print(Escaping.columns(
                event.getEventTime().toString(),
                event.getUser(),
                event.getDatabase(),
                event.getCommand(),
                queryId == null ? "-" : String.format("%016X", queryId),
                queryId == null ? event.getObject() : fingerprint));
    }

    @Override
    public void error(ErrorEvent event) {
        if (!output.isTable()) {
            record(json.write(event));
            return;
        }
        print(Escaping.columns(
                event.getEventTime().toString(),
                event.getLevel(),
                event.getKind(),
                event.getUser(),
                event.getMessage()));
    }

    private void print(String line) {
        terminal.out().append(line).append('\n');
    }

    private void record(String event) {
        if (output.isJson()) {
            print(event);
            return;
        }
        try {
            terminal.out().append(records.of(event));
        } catch (IllegalArgumentException e) {
            throw input.usage("--output csv expects logs with the same fields; " + e.getMessage());
        }
    }

    @Override
    public void deadLetter(Refusal refusal) {
        if (deadLetterOut != null) {
            deadLetterOut.append(json.write(letter(refusal, MAX_RAW_LENGTH))).append('\n');
        } else if (output.isJson()) {
            terminal.note(json.write(letter(refusal, MAX_SHOWN_LENGTH)));
        } else {
            terminal.note(refusal.describe());
        }
    }

    @Override
    public void read(LogFile file, LogFormat format, ByteAccounting accounts) {
        terminal.note(accounts.describe(file.name(), format.name()));
    }

    private DeadLetter letter(Refusal refusal, int maxLength) {
        Stage stage = refusal.byParser() ? Stage.PARSER : Stage.FRAMER;
        String code = refusal.code().name();
        int end = Math.min(refusal.to(), refusal.from() + maxLength);
        return DeadLetter.newBuilder()
                .setDeadLetterId(DeadLetterId.of(
                        refusal.origin().instance(),
                        refusal.origin().source(),
                        refusal.offset(),
                        refusal.bytes(),
                        refusal.from(),
                        refusal.to(),
                        stage,
                        code))
                .setCluster(refusal.origin().cluster())
                .setInstance(refusal.origin().instance())
                .setSource(refusal.origin().source())
                .setLog(refusal.origin().log())
                .setGeneration(1)
                .setEntryOffset(refusal.offset())
                .setEntryBytes(refusal.length())
                .setStage(stage)
                .setCode(code)
                .setMessage(refusal.message())
                .setRaw(ByteBuffer.wrap(Arrays.copyOfRange(refusal.bytes(), refusal.from(), end)))
                .setSeenAt(Instant.now())
                .setVersion(Version.VERSION)
                .build();
    }
}
