package io.tailrace.detection.sigma;

import io.tailrace.detection.event.LogSource;
import java.util.Optional;

/** Which fields events of a log source have. */
public interface FieldMapping {

    /** Any name is a field's own. */
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

    /** The field's own name for a name that a rule uses; nothing where events of this source have no such field. */
    Optional<String> resolve(LogSource source, String name);

    /** The known name that is most like an unknown one. */
    String nearest(String name);

    /**
     * Whether the field's values are sentences, each with values of its own: they do not name what an alert is about, and
     * must not stand there.
     */
    default boolean isSentence(LogSource source, String name) {
        return false;
    }
}
