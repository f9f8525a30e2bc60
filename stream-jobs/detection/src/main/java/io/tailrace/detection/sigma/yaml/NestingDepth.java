package io.tailrace.detection.sigma.yaml;

import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Detects collections that are nested too deeply: composing their nodes would need as many stack frames. */
final class NestingDepth {

    private static final int MAX_DEPTH = 100;

    private NestingDepth() {}

    /**
     * Returns the position at which a text exceeds the depth; empty if it does not, or if it is not valid YAML before
     * that.
     */
    static Optional<RuleError> excess(String file, String yaml, LoadSettings settings) {
        int depth = 0;
        try {
            for (Event event : new Parse(settings).parseString(yaml)) {
                depth += change(event.getEventId());
                if (depth > MAX_DEPTH) {
                    int line =
                            event.getStartMark().map(mark -> mark.getLine() + 1).orElse(1);
                    return Optional.of(new RuleError(
                            file, line, 1, "maps and lists are expected to be at most " + MAX_DEPTH + " deep"));
                }
            }
        } catch (YamlEngineException e) {
            // Composing fails with the same error and reports it.
            return Optional.empty();
        }
        return Optional.empty();
    }

    private static int change(Event.ID event) {
        return switch (event) {
            case MappingStart, SequenceStart -> 1;
            case MappingEnd, SequenceEnd -> -1;
            default -> 0;
        };
    }
}
