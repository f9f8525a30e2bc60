package io.tailrace.detection.sigma;

import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/** Finds collections within very many others: composing their nodes would need as many frames of the stack. */
final class NestingDepth {

    private static final int MAX_DEPTH = 100;

    private NestingDepth() {}

    /** Where a text is too deep; nothing where it is not, or no YAML from there on. */
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
            // Composing meets the same error and says so.
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
