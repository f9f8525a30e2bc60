package io.tailrace.cli;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.Stage;
import io.tailrace.identity.DeadLetterId;
import io.tailrace.json.RecordJson;
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

/** Writes the events of log files, one per line, and what became of every byte. */
@Command(
        name = "parse",
        description =
                "Turns log files into events, one per line; says on standard error what became" + " of every byte.")
final class ParseCommand implements Callable<Integer>, LogSink {

    private static final int LONGEST_RAW = 1 << 20;
    private static final String VERSION = "0.1.0";

    private final Terminal terminal;
    private final RecordJson json = new RecordJson();
    private PrintStream deadLetterOut;

    @Mixin
    private InputOptions input;

    @Option(names = "--json", description = "Whole events as JSON; default: time, user, database, seconds, id, class.")
    private boolean asJson;

    @Option(
            names = "--dead-letters",
            paramLabel = "FILE",
            description = "Where to write what is no event, one JSON object per line; may hold secrets.")
    private Path deadLetters;

    ParseCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() throws IOException {
        try (PrintStream out = deadLetters == null ? null : newFile(deadLetters)) {
            deadLetterOut = out;
            return input.read(terminal, this) ? 0 : 1;
        } finally {
            terminal.out().flush();
        }
    }

    private static PrintStream newFile(Path path) throws IOException {
        return new PrintStream(Files.newOutputStream(path), false, StandardCharsets.UTF_8);
    }

    @Override
    public void query(QueryEvent event, String fingerprint) {
        if (asJson) {
            print(json.write(event));
            return;
        }
        print(String.join(
                "\t",
                event.getEventTime().toString(),
                event.getUser(),
                event.getDatabase(),
                String.format(Locale.ROOT, "%.6f", event.getQueryTime()),
                String.format("%016X", event.getQueryId()),
                oneLine(fingerprint)));
    }

    @Override
    public void audit(AuditEvent event, String fingerprint) {
        if (asJson) {
            print(json.write(event));
            return;
        }
        Long queryId = event.getQueryId();
        print(String.join(
                "\t",
                event.getEventTime().toString(),
                event.getUser(),
                event.getDatabase(),
                event.getCommand(),
                queryId == null ? "-" : String.format("%016X", queryId),
                queryId == null ? event.getObject() : oneLine(fingerprint)));
    }

    @Override
    public void error(ErrorEvent event) {
        if (asJson) {
            print(json.write(event));
            return;
        }
        print(String.join(
                "\t",
                event.getEventTime().toString(),
                event.getLevel(),
                event.getKind(),
                event.getUser(),
                oneLine(event.getMessage())));
    }

    private void print(String line) {
        terminal.out().append(line).append('\n');
    }

    static String oneLine(String text) {
        return text.replace("\\", "\\\\")
                .replace("\n", "\\n")
                .replace("\r", "\\r")
                .replace("\t", "\\t");
    }

    @Override
    public void deadLetter(Refusal refusal) {
        if (deadLetterOut != null) {
            deadLetterOut.append(json.write(letter(refusal))).append('\n');
        }
    }

    private DeadLetter letter(Refusal refusal) {
        Stage stage = refusal.byParser() ? Stage.PARSER : Stage.FRAMER;
        String code = refusal.code().name();
        int end = Math.min(refusal.to(), refusal.from() + LONGEST_RAW);
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
                .setVersion(VERSION)
                .build();
    }
}
