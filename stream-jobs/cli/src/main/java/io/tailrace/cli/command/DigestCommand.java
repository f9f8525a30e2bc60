package io.tailrace.cli.command;

import io.tailrace.cli.digest.aggregate.Digest;
import io.tailrace.cli.digest.aggregate.Grouping;
import io.tailrace.cli.digest.aggregate.Ranking;
import io.tailrace.cli.digest.render.AnsiStyle;
import io.tailrace.cli.digest.report.HtmlReport;
import io.tailrace.cli.digest.report.JsonReport;
import io.tailrace.cli.digest.report.Report;
import io.tailrace.cli.digest.report.TextReport;
import io.tailrace.cli.filter.FilterSyntaxException;
import io.tailrace.cli.filter.StatementFilter;
import io.tailrace.cli.help.HelpTexts;
import io.tailrace.cli.input.AuditStatementConverter;
import io.tailrace.cli.input.ByteAccounting;
import io.tailrace.cli.input.LogFile;
import io.tailrace.cli.input.ServerBanner;
import io.tailrace.cli.input.ServerCounters;
import io.tailrace.cli.output.CsvRecords;
import io.tailrace.cli.terminal.Plural;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.framing.EntryDetail;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Reports the heaviest statements of slow logs, or the most frequent ones of audit and general logs. */
@HelpTexts(
        examples = {
            "tailrace digest /var/log/mysql/slow.log",
            "tailrace digest 'slow.log*' --since 2h --html report.html",
            "tailrace digest --filter 'user=app and query_time>1' --limit 20 slow.log",
            "tailrace digest --json slow.log | jq '.groups[0]'"
        },
        seeAlso = {"tailrace parse", "tailrace fingerprint", "docs/DIGEST.md"},
        keys = {
            "rank: place in the order",
            "query_id, fingerprint, verb, example, name: of the statement, or of another group",
            "share: of the measure by which groups are ordered",
            "count, errors: executions, and failed ones",
            "first, last: times of executions (UTC)",
            "query_time, lock_time, rows_sent, rows_examined, rows_affected, bytes_sent: sum and percentiles, an object",
            "tables, databases, users, hosts, plan_flags, error_codes: executions by name, an object",
            "counts_over_time, seconds_over_time: 60 intervals of equal length"
        })
@Command(
        name = "digest",
        description = {
            "Reports the heaviest statements of slow logs, or the most frequent statements of audit and general logs.",
            "Audit and general logs contain no durations. Statements are masked. docs/DIGEST.md describes the report"
                    + " and all options."
        })
public final class DigestCommand implements Callable<Integer>, InputOptions.Reader {

    /** The values of {@code --order-by}, for completion. */
    static final class Measures extends ArrayList<String> {

        private static final long serialVersionUID = 1L;

        Measures() {
            super(List.of(Ranking.NAMES.split(", ")));
        }
    }

    private static final int MAX_SERVERS = 5;

    /** More threads would only wait for the one that counts. */
    private static final int MAX_THREADS = 4;

    private final Terminal terminal;
    private final Clock clock;
    private final List<String> files = new ArrayList<>();
    private final Set<String> servers = new LinkedHashSet<>();
    /** The statements of slow logs. */
    private Digest timed;
    /** The statements of audit and general logs. */
    private Digest counted;

    private Instant from;
    private Instant until;
    /** Null without a filter. */
    private StatementFilter filter;

    private long bytes;
    private long deadLetters;
    private long leftOut;
    private boolean isSinceServerCounts;

    @Mixin
    private InputOptions input;

    @Mixin
    private OutputOption output;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Also write the report as one HTML file with charts; - is standard output, in place of the"
                    + " text.")
    private String html;

    @Option(
            names = "--limit",
            defaultValue = "10",
            paramLabel = "N",
            description = "Number of groups to show. Default: ${DEFAULT-VALUE}.")
    private int limit;

    @Option(
            names = "--order-by",
            defaultValue = "total",
            paramLabel = "MEASURE",
            completionCandidates = Measures.class,
            description = "Measure by which groups are ordered, largest first: " + Ranking.NAMES
                    + ". Default: ${DEFAULT-VALUE}.")
    private String orderBy;

    @Option(
            names = "--group-by",
            defaultValue = "query",
            paramLabel = "KEY",
            description = "Key by which statements are grouped: " + Grouping.NAMES + ". Default: ${DEFAULT-VALUE}.")
    private String groupBy;

    @Option(
            names = "--since",
            paramLabel = "TIME",
            description = "Only statements from this time on: " + TimeArgument.FORMS + ".")
    private String since;

    @Option(names = "--until", paramLabel = "TIME", description = "Only statements before this time.")
    private String before;

    @Option(
            names = "--filter",
            paramLabel = "EXPR",
            description = "Only statements that match, such as 'user=app and query_time>1 and db~^shop'. docs/DIGEST.md"
                    + " lists the fields.")
    private String expression;

    @Option(
            names = "--show-literals",
            description =
                    "Show examples as they were logged, with their values. Statements that may contain a password stay"
                            + " masked.")
    private boolean literals;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Number of threads; it does not change the report. Default: one per processor, at most" + " "
                    + MAX_THREADS + ".")
    private Integer threads;

    @Option(
            names = "--server",
            paramLabel = "DSN",
            description = "Report the statements of this server instead of files, such as mysql://user@db-1:3306/."
                    + " docs/DIGEST.md#a-server-instead-of-files lists the grants.")
    private String server;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            description = "File with the password of --server. Default: the variable TAILRACE_SERVER_PASSWORD, or a"
                    + " prompt.")
    private Path passwordFile;

    @Option(
            names = "--via",
            paramLabel = "WAY",
            description = "What to read from --server: performance_schema (counters of all statements) or log_tables."
                    + " Default: log_tables if log_output contains TABLE and the slow log is on or has rows,"
                    + " else performance_schema.")
    private String via;

    @Option(
            names = "--for",
            paramLabel = "DURATION",
            description = "Count the statements of --server for this time, such as 30s or 5m, from now on. Default: all"
                    + " that the server has counted.")
    private String counting;

    /** Written by {@code tailrace.cli.server_digest}. */
    @Option(names = "--counters", hidden = true)
    private Path counters;

    /** The name of the input in the report, in place of the paths of downloaded files. */
    @Option(names = "--input-name", hidden = true)
    private String inputName;

    @Mixin
    private ColorOption colour;

    public DigestCommand(Terminal terminal, Clock clock) {
        this.terminal = terminal;
        this.clock = clock;
    }

    @Override
    public Integer call() {
        if (server != null || passwordFile != null || via != null || counting != null) {
            throw input.usage("--password-file, --via and --for need --server, and --server needs bin/tailrace");
        }
        output.check();
        Grouping grouping = Grouping.named(groupBy);
        if (grouping == null) {
            throw input.usage("--group-by expects " + Grouping.NAMES + ", found " + groupBy);
        }
        Ranking ranking = Ranking.named(orderBy);
        if (ranking == null) {
            throw input.usage("--order-by expects one of " + Ranking.NAMES + ", found " + orderBy);
        }
        if (threads != null && threads < 1) {
            throw input.usage("--threads expects a number above 0, found " + threads);
        }
        AnsiStyle ink = colour.style(terminal);
        from = time("--since", since, Instant.MIN);
        until = time("--until", before, Instant.MAX);
        filter = expression == null ? null : filter();
        timed = new Digest(grouping, true);
        counted = new Digest(grouping, false);
        if (counters != null) {
            return report(grouping, ranking, ink) ? 0 : 1;
        }
        boolean balanced = input.read(terminal, this);
        boolean written = balanced || !files.isEmpty() ? write(ranking, ink) : balanced;
        return balanced && written ? 0 : 1;
    }

    /** Reports the counters of a server. */
    private boolean report(Grouping grouping, Ranking ranking, AnsiStyle ink) {
        if (since != null || before != null || expression != null) {
            throw input.usage(
                    "--since, --until and --filter need a log: a server has counters of classes only. Use" + " --for");
        }
        if (!grouping.isOfCounters()) {
            throw input.usage("--group-by " + groupBy + " needs a log: a server counts by query, db and table");
        }
        try {
            ServerCounters found = ServerCounters.read(counters, timed);
            files.add(found.server());
            servers.add(found.version());
            isSinceServerCounts = found.isSinceServerCounts();
        } catch (IOException e) {
            terminal.note(counters + ": cannot be read: " + InputOptions.reason(e));
            return false;
        }
        if (ranking.of(timed.whole()) == Double.NEGATIVE_INFINITY) {
            throw input.usage("--order-by " + orderBy + ": this server, or this interval, has no such values");
        }
        return write(ranking, ink);
    }

    private StatementFilter filter() {
        try {
            return StatementFilter.of(expression);
        } catch (FilterSyntaxException e) {
            throw input.usage("--filter: " + e.getMessage());
        }
    }

    private Instant time(String option, String text, Instant absent) {
        return text == null
                ? absent
                : TimeArgument.parse(text, input.zone(), clock.instant())
                        .orElseThrow(() ->
                                input.usage(option + " expects a time: " + TimeArgument.FORMS + "; found " + text));
    }

    private boolean write(Ranking ranking, AnsiStyle ink) {
        boolean times = timed.entries() > 0 || counted.entries() == 0;
        if (times && counted.entries() > 0) {
            terminal.note(Plural.of(
                            counted.entries(),
                            "statement of audit or general logs is left out, because it has no",
                            "statements of audit or general logs are left out, because they have no")
                    + " durations: digest those logs separately");
        }
        String filtered = expression == null ? "" : expression;
        List<String> names = inputName == null ? files : List.of(inputName);
        Report.Inputs inputs = new Report.Inputs(
                names, bytes, deadLetters, leftOut, filtered, List.copyOf(servers), isSinceServerCounts);
        Ranking ranked = times || ranking != Ranking.TOTAL ? ranking : Ranking.COUNT;
        Report report = new Report(times ? timed : counted, inputs, ranked, limit, input.zone(), literals);
        String text = output.isTable()
                ? new TextReport(report, ink, terminal.screen().columns()).write()
                : new JsonReport(report).write();
        text = output.isCsv() ? new CsvRecords().ofList(text, "groups") : text;
        boolean htmlInstead = LogFile.STANDARD_INPUT.equals(html);
        terminal.out().append(htmlInstead ? new HtmlReport(report).write() : text);
        terminal.out().flush();
        return html == null || htmlInstead || writeHtml(new HtmlReport(report).write());
    }

    private boolean writeHtml(String text) {
        try {
            Files.writeString(Path.of(html), text);
            return true;
        } catch (IOException | InvalidPathException e) {
            terminal.note(html + ": cannot be written: " + InputOptions.reason(e));
            return false;
        }
    }

    @Override
    public EntryDetail detail() {
        return filter == null ? EntryDetail.STATISTICS : EntryDetail.FULL;
    }

    @Override
    public int threads() {
        return threads != null
                ? threads
                : Math.min(MAX_THREADS, Runtime.getRuntime().availableProcessors());
    }

    @Override
    public Predicate<QueryEvent> statementFilter() {
        if (filter != null) {
            return event -> true;
        }
        Predicate<QueryEvent> examples = timed.possibleExamples();
        return event -> isOfTime(event) && examples.test(event);
    }

    @Override
    public void query(QueryEvent event, String fingerprint, String statement) {
        add(timed, event, fingerprint, statement);
    }

    @Override
    public void audit(AuditEvent event, String fingerprint, String statement) {
        if (AuditStatementConverter.isStatement(event)) {
            add(counted, AuditStatementConverter.query(event), fingerprint, statement);
        }
    }

    private void add(Digest digest, QueryEvent event, String fingerprint, String statement) {
        digest.see(event);
        if (isOfTime(event) && (filter == null || filter.accepts(event, fingerprint))) {
            digest.add(event, fingerprint, statement);
        } else {
            leftOut++;
        }
    }

    private boolean isOfTime(QueryEvent event) {
        Instant time = event.getEventTime();
        return !time.isBefore(from) && time.isBefore(until);
    }

    @Override
    public void error(ErrorEvent event) {
        throw new IllegalStateException("an error log was refused before it was read");
    }

    @Override
    public void deadLetter(Refusal refusal) {
        deadLetters++;
    }

    @Override
    public void banner(String line) {
        if (servers.size() < MAX_SERVERS) {
            ServerBanner.version(line).ifPresent(servers::add);
        }
    }

    @Override
    public String refusal(String source) {
        return "errorlog".equals(source) ? "an error log contains no statements; tailrace parse shows its events" : "";
    }

    @Override
    public void read(LogFile file, LogFormat format, ByteAccounting accounts) {
        files.add(file.isStandardInput() ? "standard input" : file.name());
        bytes += accounts.size;
        if (!accounts.balance()) {
            terminal.note(accounts.describe(file.name(), format.name()));
        }
    }
}
