package io.tailrace.cli;

import io.tailrace.detection.sigma.RuleContext;
import io.tailrace.detection.sigma.RuleSet;
import io.tailrace.detection.sigma.RuleSetReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Rules as the command line names them. */
final class RuleFiles {

    private RuleFiles() {}

    /** Compiles the rules of files and directories; says on standard error which are refused, and why. */
    static RuleSet read(List<Path> paths, RuleContext context, Terminal terminal) throws IOException {
        RuleSetReader reader = new RuleSetReader(context);
        for (Path path : paths) {
            reader.path(path);
        }
        RuleSet rules = reader.ruleSet();
        rules.errors().forEach(error -> terminal.note(error.toString()));
        return rules;
    }

    /** What was compiled, in one line. */
    static String summary(RuleSet rules) {
        return rules.rules().size() + " rules, " + rules.correlations().size() + " correlations, "
                + rules.errors().size() + " refused";
    }
}
