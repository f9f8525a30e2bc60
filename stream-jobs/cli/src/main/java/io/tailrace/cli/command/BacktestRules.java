package io.tailrace.cli.command;

import io.tailrace.cli.backtest.RuleSelection;
import io.tailrace.cli.input.RuleFiles;
import io.tailrace.cli.input.RuleVersionFiles;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.detection.dataclass.DataClasses;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The rules and detectors of a backtest: arguments and options. */
final class BacktestRules {

    @Parameters(
            arity = "0..*",
            paramLabel = "RULE",
            description =
                    "Rules or detectors to test: id, name or title of one in --rules, or a file with rules that need not"
                            + " be active. A rule of a file replaces the rule with the same id in --rules. Default:"
                            + " all of --rules.")
    private List<String> named = new ArrayList<>();

    @Option(
            names = "--rules",
            paramLabel = "PATH",
            description = "Files with rules, or directories with files that end with .yml or .yaml. Default: the rules"
                    + " of this installation, or only the files among RULE.")
    private List<Path> pack = new ArrayList<>();

    @Option(
            names = "--against",
            paramLabel = "PATH",
            description =
                    "Another version to compare with: a file with rules, which replace those of --rules with the same"
                            + " id, or a directory, which replaces --rules.")
    private Path against;

    @Option(
            names = "--detectors",
            paramLabel = "FILE",
            description = "File with the stateful detectors. Default: detectors.yaml in a directory of --rules, if it"
                    + " exists; \"\" runs none.")
    private String detectorFile;

    @Option(
            names = "--data-classes",
            paramLabel = "FILE",
            description = "File with the data classes. Default: data-classes.yaml in a directory of --rules, if it"
                    + " exists; \"\" for none.")
    private String dataClassFile;

    private final List<RuleError> refused = new ArrayList<>();
    private boolean isAccepted = true;

    /** The selected rules of one version. */
    private record Selected(Set<String> keys, RuleSelection selection) {

        static Selected of(RuleSelection selection) {
            Set<String> keys = new HashSet<>();
            selection.judged().forEach(header -> keys.add(header.key()));
            selection.notJudged().keySet().forEach(header -> keys.add(header.key()));
            return new Selected(keys, selection);
        }
    }

    /** Returns the tested version, and the one of {@code --against} if there is one. */
    List<RuleSelection> versions(Terminal terminal) throws IOException {
        List<Path> files =
                named.stream().map(Path::of).filter(Files::isRegularFile).toList();
        Set<String> texts = new HashSet<>(named);
        files.forEach(file -> texts.remove(file.toString()));
        Selected tested = select(terminal, pack, files, texts, Set.of(), named.isEmpty());
        List<RuleSelection> versions = new ArrayList<>(List.of(tested.selection()));
        if (against != null) {
            boolean isPack = Files.isDirectory(against);
            versions.add(select(
                            terminal,
                            isPack ? List.of(against) : pack,
                            isPack ? List.of() : List.of(against),
                            texts,
                            tested.keys(),
                            named.isEmpty())
                    .selection());
        }
        refused.forEach(error -> terminal.note(error.toString()));
        return versions;
    }

    /**
     * @param files with rules that replace those of the pack, and are selected
     * @param texts ids, names and titles of selected rules
     * @param keys of the rules of the tested version, if this is the one that it is compared with
     */
    private Selected select(
            Terminal terminal, List<Path> rules, List<Path> files, Set<String> texts, Set<String> keys, boolean all)
            throws IOException {
        List<Path> compiled = RuleVersionFiles.of(rules, files);
        List<Path> besides = rules.isEmpty() ? files : rules;
        RuleContext context = RuleFiles.context(besides, new DatabaseFieldMapping(), refused::add);
        RuleSet set = RuleFiles.read(compiled, context, terminal);
        DetectorConfig detectors = RuleFiles.detectors(besides, detectorFile, context, terminal);
        isAccepted &= set.errors().isEmpty() && detectors.errors().isEmpty();
        Set<String> names = new HashSet<>();
        files.forEach(file -> names.add(file.toString()));
        Predicate<RuleHeader> isNamed = header -> Stream.of(header.id(), header.name(), header.title())
                .anyMatch(text -> !text.isEmpty() && texts.contains(text));
        Predicate<RuleHeader> isSelected =
                header -> all || isNamed.test(header) || names.contains(header.file()) || keys.contains(header.key());
        if (keys.isEmpty()) {
            requireAll(texts, set, detectors);
        }
        return Selected.of(RuleSelection.of(set, detectors.detectors(), isSelected, isNamed));
    }

    private static Stream<RuleHeader> headers(RuleSet set, DetectorConfig detectors) {
        return Stream.of(
                        set.rules().stream().map(SigmaRule::header),
                        set.correlations().stream().map(CorrelationRule::header),
                        detectors.detectors().stream().map(StatefulDetector::header))
                .flatMap(headers -> headers);
    }

    private static void requireAll(Set<String> texts, RuleSet set, DetectorConfig detectors) throws IOException {
        Set<String> unknown = new HashSet<>(texts);
        headers(set, detectors)
                .forEach(header -> unknown.removeAll(List.of(header.id(), header.name(), header.title())));
        if (!unknown.isEmpty()) {
            throw new IOException(
                    "no rule, detector or file has this id, name or title: " + String.join(", ", unknown));
        }
    }

    /** Returns the data classes of the tested version. */
    DataClasses dataClasses() throws IOException {
        return RuleFiles.dataClasses(pack, dataClassFile, refused::add);
    }

    /** Returns whether nothing was refused. */
    boolean isAccepted() {
        return isAccepted && refused.isEmpty();
    }

    boolean isComparing() {
        return against != null;
    }

    /** Returns whether there is anything to test. */
    boolean isEmpty() {
        return named.isEmpty() && pack.isEmpty();
    }
}
