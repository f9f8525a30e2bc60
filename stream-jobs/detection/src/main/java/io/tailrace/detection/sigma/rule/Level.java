package io.tailrace.detection.sigma.rule;

import io.tailrace.detection.sigma.yaml.RuleCompilationException;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The severity of a match, with the names of Sigma. */
public enum Level {
    INFORMATIONAL,
    LOW,
    MEDIUM,
    HIGH,
    CRITICAL;

    /**
     * Reads the level that a key of a document names; empty if it has no such key.
     *
     * @throws RuleCompilationException if there is no such level
     */
    public static Optional<Level> of(YamlMap map, String key) {
        String written = map.text(key);
        if (written.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(Arrays.stream(values())
                .filter(known -> known.name().equalsIgnoreCase(written))
                .findFirst()
                .orElseThrow(() -> map.refusal(
                        map.get(key).orElseThrow(),
                        "a level is expected to be one of "
                                + Arrays.stream(values())
                                        .map(known -> known.name().toLowerCase(Locale.ROOT))
                                        .collect(Collectors.joining(", "))
                                + ", found " + written)));
    }
}
