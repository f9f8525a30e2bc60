package io.tailrace.cli.input;

import io.tailrace.cli.terminal.Plural;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.detection.bundle.PlaceholderFile;
import io.tailrace.detection.dataclass.DataClassReader;
import io.tailrace.detection.dataclass.DataClasses;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.sigma.reader.BundleFiles;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.FieldMapping;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Reads the rule files of the command line. */
public final class RuleFiles {

    private RuleFiles() {}

    /** Compiles the rules of files and directories; writes rejected rules with their reasons to standard error. */
    public static RuleSet read(List<Path> paths, RuleContext context, Terminal terminal) throws IOException {
        RuleSetReader reader = new RuleSetReader(context);
        for (Path path : paths) {
            reader.path(path);
        }
        RuleSet rules = reader.ruleSet();
        rules.warnings().forEach(warning -> terminal.note("warning: " + warning));
        rules.errors().forEach(error -> terminal.note(error.toString()));
        return rules;
    }

    /**
     * Returns the inputs of the compilation: the placeholders of the first directory of rules that has any.
     *
     * @param errors receives the reasons why the file of placeholders is rejected
     */
    public static RuleContext context(List<Path> rules, FieldMapping fields, Consumer<RuleError> errors)
            throws IOException {
        Optional<Path> found = besides(rules, null, BundleFiles.PLACEHOLDERS);
        return new RuleContext(
                found.isEmpty()
                        ? Map.of()
                        : PlaceholderFile.read(found.get().toString(), Files.readString(found.get()), errors),
                fields);
    }

    /**
     * Returns the detectors of a file, or of the directories of rules; writes warnings and the reasons of rejections to
     * standard error.
     *
     * @param file null: that of the first directory of rules that has one; empty: none
     */
    public static DetectorConfig detectors(List<Path> rules, String file, RuleContext context, Terminal terminal)
            throws IOException {
        Optional<Path> found = besides(rules, file, BundleFiles.DETECTORS);
        if (found.isEmpty()) {
            return DetectorConfig.NONE;
        }
        DetectorConfig detectors = DetectorConfig.of(found.get().toString(), Files.readString(found.get()), context);
        detectors.warnings().forEach(warning -> terminal.note("warning: " + warning));
        detectors.errors().forEach(error -> terminal.note(error.toString()));
        return detectors;
    }

    /**
     * Returns the data classes of a file, or of the directories of rules.
     *
     * @param file null: that of the first directory of rules that has one; empty: none
     * @param errors receives the reasons why the file is rejected
     */
    public static DataClasses dataClasses(List<Path> rules, String file, Consumer<RuleError> errors)
            throws IOException {
        Optional<Path> found = besides(rules, file, BundleFiles.DATA_CLASSES);
        return found.isEmpty()
                ? DataClasses.NONE
                : DataClassReader.read(found.get().toString(), Files.readString(found.get()), errors);
    }

    private static Optional<Path> besides(List<Path> rules, String file, String name) {
        return file == null
                ? rules.stream()
                        .map(path -> path.resolve(name))
                        .filter(Files::isRegularFile)
                        .findFirst()
                : Optional.of(file).filter(named -> !named.isEmpty()).map(Path::of);
    }

    /** Returns the numbers of compiled and rejected rules in one line. */
    public static String summary(RuleSet rules) {
        return Plural.of(rules.rules().size(), "rule") + ", "
                + Plural.of(rules.correlations().size(), "correlation") + ", "
                + Plural.of(rules.alerting().size(), "of both raises alerts", "of both raise alerts") + ", "
                + (rules.exceptions().all().isEmpty()
                        ? ""
                        : Plural.of(rules.exceptions().all().size(), "exception") + ", ")
                + rules.errors().size() + " refused";
    }
}
