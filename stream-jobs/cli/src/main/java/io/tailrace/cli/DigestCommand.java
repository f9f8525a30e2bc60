package io.tailrace.cli;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.format.DateTimeParseException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Reports where the time of slow logs went. */
@Command(name = "digest", description = "Reports the heaviest statements of slow logs. Statements are masked.")
final class DigestCommand implements Callable<Integer>, LogSink {

    private final Terminal terminal;
    private final Digest digest = new Digest();
    private Instant from = Instant.MIN;
    private Instant until = Instant.MAX;

    @Spec
    private CommandSpec spec;

    @Mixin
    private InputOptions input;

    @Option(names = "--json", description = "The report as one JSON object.")
    private boolean asJson;

    @Option(
            names = "--limit",
            defaultValue = "20",
            paramLabel = "N",
            description = "How many classes are shown. Default: ${DEFAULT-VALUE}.")
    private int limit;

    @Option(
            names = "--order-by",
            defaultValue = "total",
            paramLabel = "MEASURE",
            description = "${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private Ranking ranking;

    @Option(
            names = "--since",
            paramLabel = "TIME",
            description = "Only events from this time on: 2026-11-21T02:49:03Z, or without Z in --tz, or a date.")
    private String since;

    @Option(names = "--until", paramLabel = "TIME", description = "Only events before this time.")
    private String before;

    DigestCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        from = since == null ? from : time("--since", since);
        until = before == null ? until : time("--until", before);
        boolean balanced = input.read(terminal, this);
        terminal.out()
                .append(
                        asJson
                                ? new DigestJson(digest).write(ranking, limit)
                                : new DigestReport(digest).write(ranking, limit));
        terminal.out().flush();
        return balanced ? 0 : 1;
    }

    private Instant time(String option, String text) {
        try {
            if (text.endsWith("Z")) {
                return Instant.parse(text);
            }
            LocalDateTime local = text.length() <= "2026-11-21".length()
                    ? LocalDate.parse(text).atStartOfDay()
                    : LocalDateTime.parse(text.replace(' ', 'T'));
            return local.atZone(input.zone()).toInstant();
        } catch (DateTimeParseException e) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), option + " expects a time such as 2026-11-21T02:49:03Z, found " + text);
        }
    }

    @Override
    public void query(QueryEvent event, String fingerprint) {
        Instant time = event.getEventTime();
        if (!time.isBefore(from) && time.isBefore(until)) {
            digest.add(event, fingerprint);
        }
    }

    @Override
    public void audit(AuditEvent event, String fingerprint) {
        digest.skipped++;
    }

    @Override
    public void error(ErrorEvent event) {
        digest.skipped++;
    }

    @Override
    public void deadLetter(Refusal refusal) {
        digest.deadLetters++;
    }
}
