package io.tailrace.detection.detector.config;

import io.tailrace.detection.detector.DetectorOptions;
import io.tailrace.detection.detector.DetectorType;
import io.tailrace.detection.detector.RenamedDetectorKeys;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.yaml.RuleCompilationException;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.sigma.yaml.YamlDocuments;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The compiled file of detectors: docs/DETECTORS.md. A detector that the file does not name is disabled.
 *
 * @param detectors enabled detectors
 * @param errors reasons why parts of the file are rejected
 * @param warnings one for each key with an old name
 */
public record DetectorConfig(List<StatefulDetector> detectors, List<RuleError> errors, List<RuleError> warnings) {

    /** The detectors of no file. */
    public static final DetectorConfig NONE = new DetectorConfig(List.of(), List.of(), List.of());

    /** Reads a file; an empty one has no detectors. */
    public static DetectorConfig of(String file, String yaml, RuleContext context) {
        List<StatefulDetector> detectors = new ArrayList<>();
        List<RuleError> errors = new ArrayList<>();
        List<RuleError> warnings = new ArrayList<>();
        YamlDocuments.read(
                file,
                yaml,
                document -> document.keys().forEach(name -> {
                    try {
                        read(document, name, context, detectors, warnings);
                    } catch (RuleCompilationException e) {
                        errors.add(e.error());
                    }
                }),
                errors::add);
        return new DetectorConfig(List.copyOf(detectors), List.copyOf(errors), List.copyOf(warnings));
    }

    private static void read(
            YamlMap document,
            String name,
            RuleContext context,
            List<StatefulDetector> detectors,
            List<RuleError> warnings) {
        DetectorType kind = DetectorType.of(name).orElseThrow(() -> unknown(document, name));
        if (!kind.fileKey().equals(name)) {
            warnings.add(renamed(document, name, kind.fileKey()));
        }
        DetectorOptions settings = new DetectorOptions(kind, document.map(name, name), context);
        StatefulDetector detector = DetectorFactory.detector(kind, settings);
        settings.refuseOthers();
        warnings.addAll(settings.warnings());
        if (settings.enabled()) {
            detectors.add(detector);
        }
    }

    private static RuleError renamed(YamlMap document, String oldKey, String newKey) {
        if (document.has(newKey)) {
            throw document.refusal(document.keyNode(oldKey), RenamedDetectorKeys.both(oldKey, newKey));
        }
        return document.refusal(document.keyNode(oldKey), RenamedDetectorKeys.warning(oldKey, newKey))
                .error();
    }

    private static RuleCompilationException unknown(YamlMap document, String name) {
        String known =
                Arrays.stream(DetectorType.values()).map(DetectorType::fileKey).collect(Collectors.joining(", "));
        return document.refusal(document.keyNode(name), "there is no detector " + name + "; there are " + known);
    }
}
