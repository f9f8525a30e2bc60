package io.tailrace.cli;

import io.tailrace.detection.coverage.RuleCoverage;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.RuleError;
import io.tailrace.detection.sigma.RuleHeader;
import io.tailrace.detection.sigma.RuleSet;
import io.tailrace.detection.taxonomy.DatabaseField;
import io.tailrace.detection.taxonomy.DatabaseFields;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Says which rules can never fire on a log. */
@Command(
        name = "coverage",
        description = "Reads logs and says which rules can never fire on each, because no event has a field that they"
                + " need or is of their class: file, rule and reason, tabs between.",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:all was read",
            "1:a rule was refused, or a file could not be read",
            "2:the command line is wrong"
        })
final class CoverageCommand implements Callable<Integer>, InputOptions.Reader, DetectionSink {

    private static final int FAILED = 1;

    /** An event that names tables has them, if its tables are of a class. */
    private static final Set<DatabaseField> DATA_FIELDS = EnumSet.of(
            DatabaseField.DATA_CLASS,
            DatabaseField.DATA_CLASS_READ,
            DatabaseField.DATA_CLASS_WRITTEN,
            DatabaseField.DATA_BASIS,
            DatabaseField.DATA_ACCESS);

    /** A statement may name tables. */
    private static final Set<DatabaseField> TABLE_FIELDS = EnumSet.of(
            DatabaseField.TABLE, DatabaseField.TABLE_READ, DatabaseField.TABLE_WRITTEN, DatabaseField.TABLES_BASIS);

    private final Terminal terminal;
    private boolean hasClasses;
    private long events;
    private RuleSet ruleSet;
    private final Set<String> fields = new HashSet<>();
    private final Set<String> eventClasses = new HashSet<>();
    private LogSource source = LogSource.ANY;

    @Mixin
    private InputOptions input;

    @Option(
            names = "--rules",
            required = true,
            paramLabel = "PATH",
            description = "Files with rules, or directories with files that end with .yml or .yaml.")
    private List<Path> rules;

    @Option(
            names = "--data-classes",
            paramLabel = "FILE",
            description =
                    "Which data is sensitive. Default: data-classes.yaml in a directory of --rules, where there is"
                            + " one; \"\" is none.")
    private String dataClassFile;

    CoverageCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try {
            List<RuleError> refused = new ArrayList<>();
            ruleSet = RuleFiles.read(rules, RuleFiles.context(rules, new DatabaseFields(), refused::add), terminal);
            hasClasses =
                    !RuleFiles.dataClasses(rules, dataClassFile, refused::add).isEmpty();
            refused.forEach(error -> terminal.note(error.toString()));
            boolean read = input.read(terminal, this);
            return read && ruleSet.errors().isEmpty() && refused.isEmpty() ? 0 : FAILED;
        } catch (IOException e) {
            terminal.note("rules cannot be read: " + e.getMessage() + ": " + InputOptions.reason(e));
            return FAILED;
        }
    }

    @Override
    public void read(LogFile file, LogFormat format, Accounts accounts) {
        Map<String, String> obstacles = new RuleCoverage(source, fields, eventClasses).obstacles(ruleSet);
        List<RuleHeader> alerting = alerting();
        long able = 0;
        for (RuleHeader rule : alerting) {
            String obstacle = obstacles.get(rule.key());
            if (obstacle == null) {
                able++;
            } else {
                terminal.out().append(String.join("\t", file.name(), rule.title(), "cannot fire: " + obstacle) + "\n");
            }
        }
        terminal.note(
                file.name() + " (" + format.name() + ", " + events + " events): " + able + " of " + alerting.size()
                        + " rules can fire on logs like this one"
                        + (able == alerting.size() ? "" : "; the others are listed with what they lack"));
        events = 0;
        fields.clear();
        eventClasses.clear();
    }

    private List<RuleHeader> alerting() {
        return Stream.concat(
                        ruleSet.rules().stream().filter(rule -> rule.alerts()).map(rule -> rule.header()),
                        ruleSet.correlations().stream()
                                .filter(rule -> rule.alerts())
                                .map(rule -> rule.header()))
                .toList();
    }

    @Override
    public void event(DetectionEvent event) {
        events++;
        source = event.source();
        fields.addAll(event.fields().keySet());
        addPossible(event);
        if (hasClasses && !event.values(DatabaseField.TABLE.fieldName()).isEmpty()) {
            DATA_FIELDS.forEach(field -> fields.add(field.fieldName()));
        }
        event.values(DatabaseField.EVENT_CLASS.fieldName()).forEach(value -> eventClasses.add(value.text()));
    }

    /** Fields that such a log has, though perhaps no event of this one: no statement failed in it yet. */
    private void addPossible(DetectionEvent event) {
        fields.add(DatabaseField.FLAG.fieldName());
        if (!event.values(DatabaseField.STATUS.fieldName()).isEmpty()) {
            fields.add(DatabaseField.ERROR_CODE.fieldName());
        }
        if (!event.values(DatabaseField.STATEMENT.fieldName()).isEmpty()) {
            TABLE_FIELDS.forEach(field -> fields.add(field.fieldName()));
        }
    }

    @Override
    public void deadLetter(Refusal refusal) {}
}
