package io.tailrace.cli.command;

import io.tailrace.cli.help.HelpTexts;
import io.tailrace.cli.input.InputFiles;
import io.tailrace.cli.input.LogFile;
import io.tailrace.cli.output.CsvRecords;
import io.tailrace.cli.output.Escaping;
import io.tailrace.cli.plan.PlanReport;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.json.AvroJsonWriter;
import io.tailrace.plan.Plan;
import io.tailrace.plan.advice.Advice;
import io.tailrace.plan.advice.Advisor;
import io.tailrace.plan.reader.PlanDocuments;
import io.tailrace.plan.record.PlanJson;
import io.tailrace.plan.shape.PlanDiff;
import io.tailrace.plan.shape.PlanDifference;
import io.tailrace.plan.shape.PlanHash;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.InvalidPathException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows plans and compares them. */
@HelpTexts(
        examples = {
            "tailrace plan explain.json",
            "tailrace plan --diff before.json after.json",
            "mysql -e 'explain format=json select 1' | tailrace plan"
        },
        seeAlso = {"tailrace digest", "docs/PLANS.md"},
        keys = {
            "format: of the input",
            "hash, shape: of the plan, without numbers and literals",
            "hash_rules: version of the hash",
            "plan: the model, an object",
            "source: file and line",
            "advice: a list"
        })
@Command(
        name = "plan",
        description = {
            "Shows the plans in files: a tree with estimated and measured rows, cost and time, warnings, and advice.",
            "Reads EXPLAIN and ANALYZE FORMAT=JSON of MySQL, Percona Server and MariaDB, the rows of"
                    + " EXPLAIN, and MariaDB's slow log with '# explain:' lines; alone, one per line, or within the"
                    + " output of a client. Literals are masked. Nothing is executed."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:all plans were shown; with --diff: the two have the same shape",
            "1:a file could not be read, or contains no plan; with --diff: the two plans differ",
            "2:the command line is invalid; with --diff also: the files do not contain two plans",
            "141:the reader of standard output closed it, as in `| head`"
        })
public final class PlanCommand implements Callable<Integer> {

    private static final int DIFFERENT = 1;
    private static final int FAILED = 1;
    private static final int TROUBLE = 2;
    /** Maximum size of a file in bytes, because a text is held in memory completely. */
    private static final int MAX_SIZE = 512 << 20;

    private final Terminal terminal;
    private final PlanDocuments documents = new PlanDocuments();
    private final List<Found> found = new ArrayList<>();
    private boolean complete = true;

    /** A plan, and its place in the input. */
    private record Found(Plan plan, String source) {}

    @Parameters(
            arity = "0..*",
            paramLabel = "FILE",
            description = "Files with plans, plain, gzip or Zstandard, and patterns; - is standard input, which is the"
                    + " default.")
    private List<String> names = new ArrayList<>();

    @Mixin
    private OutputOption output;

    @Option(
            names = "--hash",
            description = "Write the hash of each plan's shape, the shape, and its place, separated by tabs.")
    private boolean asHash;

    @Option(names = "--diff", description = "Show the changes from the first plan to the second.")
    private boolean asDiff;

    @Mixin
    private ColorOption colour;

    @Spec
    private CommandSpec command;

    public PlanCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        output.check();
        if ((output.isTable() ? 0 : 1) + (asHash ? 1 : 0) + (asDiff ? 1 : 0) > 1) {
            throw usage("--output json or csv, --hash and --diff are mutually exclusive");
        }
        PlanReport report =
                new PlanReport(colour.style(terminal), terminal.screen().columns());
        List<String> unmatched = new ArrayList<>();
        List<LogFile> files = InputFiles.of(names.isEmpty() ? List.of(LogFile.STANDARD_INPUT) : names, unmatched);
        unmatched.forEach(pattern -> fail(pattern + ": no such file"));
        files.forEach(this::read);
        if (asDiff) {
            return diff(report);
        }
        print(report);
        terminal.out().flush();
        return complete ? 0 : FAILED;
    }

    private CommandLine.ParameterException usage(String message) {
        return new CommandLine.ParameterException(command.commandLine(), message);
    }

    private void fail(String message) {
        terminal.note(message);
        complete = false;
    }

    private void read(LogFile file) {
        String name = file.isStandardInput() ? "standard input" : file.name();
        try (InputStream in = file.open(file.raw(terminal.in()))) {
            byte[] bytes = in.readNBytes(MAX_SIZE + 1);
            if (bytes.length > MAX_SIZE) {
                fail(name + ": more than " + (MAX_SIZE >> 20) + " MiB; pass only the part with the plans");
                return;
            }
            read(name, bytes);
        } catch (IOException | InvalidPathException e) {
            fail(name + ": cannot be read: " + InputOptions.reason(e));
        }
    }

    private void read(String name, byte[] bytes) {
        int before = found.size();
        List<String> problems = new ArrayList<>();
        documents.read(bytes, new PlanDocuments.Listener() {
            @Override
            public void plan(Plan plan, int line, int offset) {
                found.add(new Found(plan, name + ":" + line));
            }

            @Override
            public void problem(String message, int line, int offset) {
                problems.add(name + ":" + line + ": byte " + offset + ": " + message);
            }
        });
        problems.forEach(this::fail);
        if (found.size() == before && problems.isEmpty()) {
            fail(name + ": no plan in " + bytes.length + " bytes; expected EXPLAIN FORMAT=JSON or the rows of EXPLAIN");
        }
    }

    private void print(PlanReport report) {
        PlanJson json = new PlanJson();
        if (output.isCsv()) {
            terminal.out()
                    .append(new CsvRecords()
                            .ofAll(found.stream()
                                    .map(one -> json(json.write(one.plan()), one))
                                    .toList()));
            return;
        }
        String gap = "";
        for (Found one : found) {
            if (output.isJson()) {
                terminal.out().append(json(json.write(one.plan()), one)).append('\n');
            } else if (asHash) {
                String shape = PlanHash.shape(one.plan());
                terminal.out()
                        .append(Escaping.columns(PlanHash.of(one.plan()), shape, one.source()))
                        .append('\n');
            } else {
                terminal.out().append(gap).append(report.show(one.plan(), one.source()));
                gap = "\n";
            }
        }
    }

    /** Returns the model with the place of the plan and the advice. */
    private static String json(String model, Found one) {
        StringBuilder out = new StringBuilder(model);
        out.setLength(out.length() - 1);
        out.append(",\"source\":");
        AvroJsonWriter.quote(one.source(), out);
        out.append(",\"advice\":[");
        String separator = "";
        for (Advice advice : Advisor.of(one.plan())) {
            out.append(separator).append("{\"kind\":\"").append(advice.kind()).append("\",\"table\":");
            AvroJsonWriter.quote(advice.table(), out);
            out.append(",\"text\":");
            AvroJsonWriter.quote(advice.text(), out);
            out.append(",\"evidence\":");
            AvroJsonWriter.quote(advice.evidence(), out);
            out.append('}');
            separator = ",";
        }
        return out.append("]}").toString();
    }

    private int diff(PlanReport report) {
        if (found.size() != 2) {
            terminal.note("--diff compares two plans, found " + found.size());
            return TROUBLE;
        }
        Found before = found.get(0);
        Found after = found.get(1);
        List<PlanDifference> changes = PlanDiff.of(before.plan(), after.plan());
        terminal.out().append(report.compare(before.plan(), before.source(), after.plan(), after.source(), changes));
        terminal.out().flush();
        return !complete ? TROUBLE : changes.isEmpty() ? 0 : DIFFERENT;
    }
}
