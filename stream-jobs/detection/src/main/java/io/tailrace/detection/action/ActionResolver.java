package io.tailrace.detection.action;

import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DetectionEvent;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The actions of all sessions in memory, for logs that are read one after the other: what the first one said must be known
 * until the last one was read. Used by one thread.
 */
public final class ActionResolver {

    /** Actions of all sessions, about 400 bytes each: half a million are 200 MB. */
    public static final int MAX_ACTIONS = 500_000;

    private final Map<String, SessionActionState> sessions = new LinkedHashMap<>();
    private final int limit;
    private int size;

    /** @param limit how many actions are remembered; beyond them the sessions that were seen first are forgotten */
    public ActionResolver(int limit) {
        this.limit = limit;
    }

    /** The action that an event records. */
    public ActionReference of(DetectionEvent event) {
        return ActionObservation.of(event)
                .map(this::resolve)
                .orElseGet(() -> new ActionReference(event.id(), event.micros(), event.order()));
    }

    private ActionReference resolve(ActionObservation event) {
        SessionActionState session = sessions.computeIfAbsent(event.session(), key -> new SessionActionState(limit));
        int before = session.size();
        ActionReference action = session.resolve(event);
        size += session.size() - before;
        forget(event.session());
        return action;
    }

    /** Forgets whole sessions, but never the one at hand. */
    private void forget(String current) {
        Iterator<Map.Entry<String, SessionActionState>> oldest =
                sessions.entrySet().iterator();
        while (size > limit && oldest.hasNext()) {
            Map.Entry<String, SessionActionState> session = oldest.next();
            if (!session.getKey().equals(current)) {
                size -= session.getValue().size();
                oldest.remove();
            }
        }
    }

    /** How many actions are remembered. */
    public int size() {
        return size;
    }
}
