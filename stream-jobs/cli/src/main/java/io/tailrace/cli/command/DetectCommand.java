package io.tailrace.cli.command;

import io.tailrace.cli.help.HelpTexts;
import io.tailrace.cli.input.ByteAccounting;
import io.tailrace.cli.input.DetectionEventHandler;
import io.tailrace.cli.input.JsonEventReader;
import io.tailrace.cli.input.LogFile;
import io.tailrace.cli.input.RuleFiles;
import io.tailrace.cli.output.AlertWriter;
import io.tailrace.cli.output.CsvRecords;
import io.tailrace.cli.terminal.Plural;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.detector.InMemoryDetectorEngine;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.FieldMapping;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Evaluates detection rules on log files. */
@HelpTexts(
        examples = {
            "tailrace detect --rules rules /var/log/mysql/audit.log",
            "tailrace detect --rules rules --json audit.log | jq .title"
        },
        seeAlso = {"tailrace rules", "tailrace alerts", "docs/DETECTION.md"},
        keys = {
            "alert_id: of the alert",
            "@timestamp: of the event that caused it (UTC)",
            "rule: id, name, title, level and tags, an object",
            "entity: whom the alert is about, an object",
            "count: matches that the rule has counted",
            "window_start: of the first one (UTC)",
            "event_ids, statements: of its events",
            "facts: of a detector, an object",
            "late: whether the event arrived after its time",
            "event: fields of the event, an object"
        })
@Command(
        name = "detect",
        description = {
            "Evaluates Sigma rules and stateful detectors on log files and writes one line per alert.",
            "A line contains time, level, title, entity and count. docs/TAXONOMY.md lists the fields of events."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:all input was read, whether a rule fired or not",
            "1:a rule, detector, the data classes or a line of --events was refused (the rest was evaluated), or a file"
                    + " could not be read",
            "2:the command line is invalid",
            "141:the reader of standard output closed it, as in `| head`"
        })
public final class DetectCommand implements Callable<Integer>, InputOptions.Reader, DetectionEventHandler {

    /**
     * Later than all events. Several files may cover the same time one after another, so no state expires before the
     * last file has ended.
     */
    private static final long END_OF_TIME = Long.MAX_VALUE / 4;

    private static final int FAILED = 1;
    /** Maximum number of rejected lines of a file of events that are reported singly; the others are counted. */
    private static final int MAX_REFUSALS = 20;

    private static final long MICROS_PER_MILLI = 1000;
    /** Replaces the event of an alert that waited for later events. */
    private static final DetectionEvent NO_EVENT =
            DetectionEvent.builder("", 0, LogSource.ANY).build();

    private final Terminal terminal;
    private final Clock clock;
    private final ActionResolver actions = new ActionResolver(ActionResolver.MAX_ACTIONS);
    private AlertWriter lines;
    private final CsvRecords records = new CsvRecords();
    private DataClassifier classifier;
    private DetectionEngine detector;
    private InMemoryDetectorEngine detectors;
    private DetectionEvent current;
    private long events;
    private long alerts;

    @Mixin
    private InputOptions input;

    @Mixin
    private RuleOptions rules;

    @Option(
            names = "--detectors",
            paramLabel = "FILE",
            description =
                    "File with the stateful detectors and their settings: docs/DETECTORS.md. Default: detectors.yaml in"
                            + " a directory of --rules, if it exists; \"\" runs none.")
    private String detectorFile;

    @Option(
            names = "--data-classes",
            paramLabel = "FILE",
            description =
                    "File with the data classes: docs/DATA-CLASSES.md. Default: data-classes.yaml in a directory of"
                            + " --rules, if it exists; \"\" for none.")
    private String dataClassFile;

    @Mixin
    private OutputOption output;

    @Option(
            names = "--events",
            paramLabel = "FILE",
            description =
                    "Read events from a file of JSON objects, one per line, instead of logs; for rules of any log source.")
    private String eventFile;

    public DetectCommand(Terminal terminal, Clock clock) {
        this.terminal = terminal;
        this.clock = clock;
    }

    @Override
    public Integer call() {
        output.check();
        try {
            FieldMapping fields = eventFile == null ? new DatabaseFieldMapping() : FieldMapping.ANY;
            RuleContext context = rules.context(fields);
            RuleSet ruleSet = rules.read(context, terminal);
            DetectorConfig stateful = rules.detectors(detectorFile, context, terminal);
            classifier = new DataClassifier(rules.dataClasses(dataClassFile));
            boolean accepted = rules.reportRefused(terminal);
            lines = new AlertWriter();
            detector = new DetectionEngine(RuleBundle.withoutReplaced(ruleSet, stateful.detectors()), 0);
            detectors = new InMemoryDetectorEngine(stateful.detectors(), 0, () -> clock.millis() * MICROS_PER_MILLI);
            boolean read = eventFile == null ? input.read(terminal, this) : readEvents();
            detector.advance(END_OF_TIME, this::print);
            terminal.out().flush();
            terminal.note(RuleFiles.summary(ruleSet) + ", "
                    + Plural.of(stateful.detectors().size(), "detector") + "; " + Plural.of(events, "event") + ", "
                    + Plural.of(alerts, "alert"));
            detector.suppressed()
                    .forEach((exception, matches) ->
                            terminal.note("matches that the exception \"" + exception + "\" suppressed: " + matches));
            return read && ruleSet.errors().isEmpty() && stateful.errors().isEmpty() && accepted ? 0 : FAILED;
        } catch (IOException e) {
            terminal.note("cannot read the rules: " + e.getMessage() + ": " + InputOptions.reason(e));
            return FAILED;
        }
    }

    private boolean readEvents() {
        LogFile file = new LogFile(eventFile);
        try (InputStream in = file.open(file.raw(terminal.in()))) {
            long[] refused = new long[1];
            new JsonEventReader().read(in, this::event, reason -> {
                if (refused[0]++ < MAX_REFUSALS) {
                    terminal.note(eventFile + ": " + reason);
                }
            });
            if (refused[0] > 0) {
                terminal.note(eventFile + ": " + refused[0]
                        + (refused[0] == 1 ? " line is not an event" : " lines are not events")
                        + "; the others were evaluated");
            }
            return refused[0] == 0;
        } catch (IOException e) {
            terminal.note(eventFile + ": " + InputOptions.reason(e));
            return false;
        }
    }

    @Override
    public void event(DetectionEvent event) {
        events++;
        current = event;
        if (eventFile == null) {
            event.actionFrom(actions::of);
            classifier.enrich(event);
        }
        detector.detect(event, this::print);
        detectors.detect(event, this::print);
    }

    private void print(RaisedAlert alert) {
        alerts++;
        boolean byCurrent =
                current.micros() == alert.micros() || current.action().micros() == alert.micros();
        DetectionEvent event = byCurrent ? current : NO_EVENT;
        if (output.isCsv()) {
            terminal.out().append(records.of(lines.json(alert, event)));
            return;
        }
        String line = output.isJson() ? lines.json(alert, event) : lines.text(alert, event);
        terminal.out().append(line).append('\n');
    }

    @Override
    public void deadLetter(Refusal refusal) {
        terminal.note(refusal.describe());
    }

    @Override
    public void read(LogFile file, LogFormat format, ByteAccounting accounts) {
        terminal.note(accounts.describe(file.name(), format.name()));
    }
}
