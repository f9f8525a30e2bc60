package io.tailrace.detection.action;

import io.tailrace.detection.event.ActionReference;
import io.tailrace.detection.event.DetectionEvent;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Resolves the actions of all sessions in memory. Logs are read one after another, so the actions of the first log must
 * be known until the last one is read. Not thread-safe.
 */
public final class ActionResolver {

    /** Number of actions of all sessions, about 400 bytes each: half a million need 200 MB. */
    public static final int MAX_ACTIONS = 500_000;

    private final Map<String, SessionActionState> sessions = new LinkedHashMap<>();
    private final int limit;
    private int size;

    /** @param limit maximum number of remembered actions; beyond it, the sessions that were seen first are forgotten */
    public ActionResolver(int limit) {
        this.limit = limit;
    }

    /** Returns the action that an event records. */
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

    /** Forgets complete sessions, but never the current one. */
    private void forget(String current) {
        if (size <= limit) {
            return;
        }
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

    /** Returns the number of remembered actions. */
    public int size() {
        return size;
    }
}
