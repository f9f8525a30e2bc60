package io.tailrace.detection.detector.peer;

import io.tailrace.detection.detector.DetectorOptions;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.match.Expression;
import java.util.Map;
import java.util.Optional;

/**
 * Assigns accounts to peer groups: the first group of the file whose search matches, otherwise all accounts whose names
 * differ in their last digits only, such as {@code analyst1} and {@code analyst12}.
 */
public final class PeerGroups {

    private final Map<String, Expression> searches;
    private final boolean numbered;

    /**
     * @param searches the search of each group, by its name, in the order of the file
     * @param numbered whether names that differ in their last digits only are a group
     */
    PeerGroups(Map<String, Expression> searches, boolean numbered) {
        this.searches = searches;
        this.numbered = numbered;
    }

    public static PeerGroups of(DetectorOptions settings) {
        return new PeerGroups(settings.searches("groups"), settings.flag("numbered", true));
    }

    /** Returns the name of the group of an event's account; empty if it has none. */
    Optional<String> of(DetectionEvent event, String user) {
        for (Map.Entry<String, Expression> group : searches.entrySet()) {
            if (group.getValue().matches(event)) {
                return Optional.of(group.getKey());
            }
        }
        int end = user.length();
        while (end > 0 && Character.isDigit(user.charAt(end - 1))) {
            end--;
        }
        boolean hasNumber = numbered && end > 0 && end < user.length();
        return hasNumber ? Optional.of(user.substring(0, end) + '#') : Optional.empty();
    }
}
