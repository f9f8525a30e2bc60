package io.tailrace.detection.bundle;

import io.tailrace.detection.dataclass.DataClassReader;
import io.tailrace.detection.dataclass.DataClasses;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.sigma.reader.BundleFiles;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.FieldMapping;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * All rules, detectors, data classes and placeholders of one push. A bundle is accepted or rejected as a whole.
 *
 * @param rules empty if the bundle is rejected
 * @param detectors detectors that the bundle enables; empty if it is rejected
 * @param dataClasses empty if the bundle defines none or is rejected
 * @param errors reasons of the rejection, in the order of files and lines; empty if it is accepted
 * @param warnings one for each key with an old name; empty if the bundle is rejected
 */
public record RuleBundle(
        RuleSet rules,
        List<StatefulDetector> detectors,
        DataClasses dataClasses,
        List<RuleError> errors,
        List<RuleError> warnings) {

    private static final RuleSet NONE = new RuleSet(List.of(), List.of(), List.of(), List.of());

    public RuleBundle {
        detectors = List.copyOf(detectors);
        errors = List.copyOf(errors);
        warnings = List.copyOf(warnings);
    }

    /**
     * Compiles a bundle.
     *
     * @param files texts by their paths, which are relative to the directory of the rules
     * @param fields fields that events have
     */
    public static RuleBundle of(Map<String, String> files, FieldMapping fields) {
        List<RuleError> errors = new ArrayList<>();
        RuleContext context = context(files, fields, errors::add);
        RuleSetReader reader = new RuleSetReader(context);
        new TreeMap<>(files).forEach((file, text) -> {
            if (!BundleFiles.isOther(file)) {
                reader.text(file, text);
            }
        });
        RuleSet rules = reader.ruleSet();
        DetectorConfig detectors = detectors(files, context);
        errors.addAll(rules.errors());
        errors.addAll(detectors.errors());
        DataClasses classes = DataClassReader.read(
                BundleFiles.DATA_CLASSES, files.getOrDefault(BundleFiles.DATA_CLASSES, ""), errors::add);
        errors.sort(Comparator.comparing(RuleError::file).thenComparingInt(RuleError::line));
        return errors.isEmpty()
                ? new RuleBundle(
                        withoutReplaced(rules, detectors.detectors()),
                        detectors.detectors(),
                        classes,
                        errors,
                        detectors.warnings())
                : new RuleBundle(NONE, List.of(), DataClasses.NONE, errors, List.of());
    }

    /**
     * Returns this bundle with detectors of its own, which are not thread-safe. It has the same rules and data classes:
     * they are immutable.
     *
     * @param files texts that this bundle was compiled from; only those of detectors and placeholders are read
     */
    public RuleBundle withOwnDetectors(Map<String, String> files, FieldMapping fields) {
        if (detectors.isEmpty()) {
            return this;
        }
        DetectorConfig own = detectors(files, context(files, fields, error -> {}));
        return new RuleBundle(rules, own.detectors(), dataClasses, errors, warnings);
    }

    private static RuleContext context(Map<String, String> files, FieldMapping fields, Consumer<RuleError> errors) {
        String placeholders = files.getOrDefault(BundleFiles.PLACEHOLDERS, "");
        return new RuleContext(PlaceholderFile.read(BundleFiles.PLACEHOLDERS, placeholders, errors), fields);
    }

    private static DetectorConfig detectors(Map<String, String> files, RuleContext context) {
        return DetectorConfig.of(BundleFiles.DETECTORS, files.getOrDefault(BundleFiles.DETECTORS, ""), context);
    }

    /** Returns the rules that are evaluated together with detectors: {@link StatefulDetector#replacedRules}. */
    public static RuleSet withoutReplaced(RuleSet rules, List<StatefulDetector> detectors) {
        Set<String> replaced = new TreeSet<>();
        detectors.forEach(detector -> replaced.addAll(detector.replacedRules()));
        return rules.withoutAlertsOf(replaced);
    }

    /** Returns whether the bundle is rejected and must not be used. */
    public boolean isRefused() {
        return !errors.isEmpty();
    }

    /**
     * Reads the files of a bundle: all files below a directory whose names end with .yml or .yaml.
     *
     * @throws IOException also if a file is not valid UTF-8
     */
    public static Map<String, String> files(Path directory) throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> found = Files.walk(directory)) {
            for (Path file : found.filter(RuleBundle::isYaml).toList()) {
                files.put(directory.relativize(file).toString(), text(file));
            }
        }
        return files;
    }

    private static boolean isYaml(Path file) {
        String name = file.getFileName().toString();
        return Files.isRegularFile(file) && (name.endsWith(".yml") || name.endsWith(".yaml"));
    }

    private static String text(Path file) throws IOException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(Files.readAllBytes(file)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IOException(file + ": expected UTF-8", e);
        }
    }
}
