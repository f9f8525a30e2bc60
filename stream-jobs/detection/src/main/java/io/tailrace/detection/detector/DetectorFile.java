package io.tailrace.detection.detector;

import io.tailrace.detection.sigma.RuleError;
import io.tailrace.detection.sigma.YamlDocuments;
import io.tailrace.detection.sigma.YamlMap;
import java.util.ArrayList;
import java.util.List;

/**
 * The file that says which detectors run, and how: docs/DETECTORS.md.
 *
 * @param detectors those that are enabled
 * @param errors why parts of it are refused
 */
public record DetectorFile(List<StatefulDetector> detectors, List<RuleError> errors) {

    /** Reads a file; an empty one has no detectors. */
    public static DetectorFile of(String file, String yaml) {
        List<RuleError> errors = new ArrayList<>();
        YamlDocuments.read(file, yaml, DetectorFile::refuseUnknown, errors::add);
        return new DetectorFile(List.of(), List.copyOf(errors));
    }

    private static void refuseUnknown(YamlMap document) {
        for (String name : document.keys()) {
            throw document.refusal(document.keyNode(name), "there is no detector " + name);
        }
    }
}
