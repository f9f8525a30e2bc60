package io.tailrace.cli.command;

import io.tailrace.cli.input.RuleFiles;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.detection.dataclass.DataClasses;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.sigma.rule.FieldMapping;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The option {@code --rules}, and the files next to the rules. */
final class RuleOptions {

    @Option(
            names = "--rules",
            required = true,
            paramLabel = "PATH",
            description = "Files with rules, or directories with files that end with .yml or .yaml.")
    private List<Path> paths;

    private final List<RuleError> refused = new ArrayList<>();

    /** As {@link RuleFiles#context}. */
    RuleContext context(FieldMapping fields) throws IOException {
        return RuleFiles.context(paths, fields, refused::add);
    }

    /** As {@link RuleFiles#read}. */
    RuleSet read(RuleContext context, Terminal terminal) throws IOException {
        return RuleFiles.read(paths, context, terminal);
    }

    /** As {@link RuleFiles#detectors}. */
    DetectorConfig detectors(String file, RuleContext context, Terminal terminal) throws IOException {
        return RuleFiles.detectors(paths, file, context, terminal);
    }

    /** As {@link RuleFiles#dataClasses}. */
    DataClasses dataClasses(String file) throws IOException {
        return RuleFiles.dataClasses(paths, file, refused::add);
    }

    /** Reports what was rejected in placeholders and data classes; returns whether nothing was. */
    boolean reportRefused(Terminal terminal) {
        refused.forEach(error -> terminal.note(error.toString()));
        return refused.isEmpty();
    }
}
