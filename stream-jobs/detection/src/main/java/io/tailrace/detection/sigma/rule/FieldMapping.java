package io.tailrace.detection.sigma.rule;

import io.tailrace.detection.event.LogSource;
import java.util.Optional;

/** Defines the fields of the events of a log source. */
public interface FieldMapping {

    /** Accepts any name as a field. */
    FieldMapping ANY = new FieldMapping() {

        @Override
        public Optional<String> resolve(LogSource source, String name) {
            return Optional.of(name);
        }

        @Override
        public String nearest(String name) {
            return name;
        }
    };

    /** Returns the field for a name in a rule; empty if events of this source have no such field. */
    Optional<String> resolve(LogSource source, String name);

    /** Returns the known name that is most similar to an unknown one. */
    String nearest(String name);

    /**
     * Returns whether the values of the field are sentences that contain values of their own. Such a field cannot
     * identify the subject of an alert.
     */
    default boolean isSentence(LogSource source, String name) {
        return false;
    }
}
