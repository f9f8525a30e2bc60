package io.tailrace.detection.action;

import io.tailrace.detection.event.ActionReference;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The actions of one session while its events arrive, about 400 bytes each.
 *
 * <p>An event belongs to a known action if it is of the same kind (for statements: the same fingerprint), if their
 * times differ by at most {@link #TOLERANCE_MICROS} plus the duration of the statement, and if its source has not
 * recorded the action yet. Of several such actions, the earliest is chosen. Two equal statements in one log are
 * therefore two actions, and the same two statements in two logs are also two actions. Time distinguishes connection
 * ids that a server reuses after a restart.
 */
final class SessionActionIndex {

    /**
     * Logs write whole seconds, some at the start and some at the end of a statement, and threads overtake each other.
     */
    static final long TOLERANCE_MICROS = 2_000_000;

    /** How long the end of the latest statement is awaited, in microseconds. Statements of a session do not overlap. */
    private static final long MAX_WAIT_MICROS = 600_000_000;

    /**
     * Limits the search: with more candidates no action is chosen, because a log whose statements all took days would
     * make each search expensive.
     */
    private static final int MAX_CANDIDATES = 20_000;

    /** @param number distinguishes actions of the same time, by their order of arrival */
    private record Place(long kind, long micros, long number) implements Comparable<Place> {

        @Override
        public int compareTo(Place other) {
            if (kind != other.kind) {
                return Long.compare(kind, other.kind);
            }
            return micros == other.micros ? Long.compare(number, other.number) : Long.compare(micros, other.micros);
        }
    }

    private final NavigableMap<Place, ActionState> byTime = new TreeMap<>();
    /** Actions that some source of this session has not recorded yet. */
    private final NavigableMap<Place, ActionState> awaiting = new TreeMap<>();

    private final Map<Long, ActionState> byServerQuery = new HashMap<>();
    private final Map<Long, ActionState> byMember = new HashMap<>();
    private final int limit;
    private int sources;
    private long added;
    private long maxMinimumDuration;
    private int rowsOnly;
    private int truncated;

    /** @param limit maximum number of remembered actions; beyond it, the oldest is forgotten */
    SessionActionIndex(int limit) {
        this.limit = limit;
    }

    /** Returns the action that an event records: a known one, or the event's own, which is then remembered. */
    ActionReference resolve(ActionObservation event) {
        addSource(event.source());
        long member = TextHash.of(event.candidateAction().id());
        ActionState known = byMember.get(member);
        if (known != null) {
            return known.action();
        }
        known = event.isRow() ? ofRow(event) : ofStatement(event);
        if (known != null) {
            join(known, event);
            return known.action();
        }
        if (event.kind() != 0 || event.serverQuery() != 0) {
            add(new ActionState(event, member));
        }
        return event.candidateAction();
    }

    /** A new source may record every remembered action. */
    private void addSource(int source) {
        if ((sources | source) == sources) {
            return;
        }
        sources |= source;
        byTime.values().forEach(this::await);
    }

    private void await(ActionState action) {
        if (action.kind() != 0 && (sources & ~action.sources()) != 0) {
            awaiting.put(placeOf(action.kind(), action), action);
        }
    }

    private ActionState ofRow(ActionObservation row) {
        ActionState known = byServerQuery.get(row.serverQuery());
        if (known != null && known.isNear(row)) {
            return known;
        }
        if (row.kind() != 0) {
            return last(near(byTime, 0, row), action -> action.kind() == row.kind() && action.isNear(row));
        }
        return first(near(byTime, 0, row), action -> action.mayTouch(row));
    }

    private ActionState ofStatement(ActionObservation event) {
        ActionState known = null;
        if (!awaiting.isEmpty()) {
            known = first(near(awaiting, event.kind(), event), action -> action.awaits(event));
        }
        if (known == null && event.verb() != 0 && mayHaveOtherBoundary(event)) {
            known = matchingStartOrEnd(event);
        }
        if (known == null && event.serverQuery() != 0) {
            known = Optional.ofNullable(byServerQuery.get(event.serverQuery()))
                    .filter(rows -> rows.isRowsOnly() && rows.isNear(event))
                    .orElse(null);
        }
        return known == null ? findApproximateMatch(event) : known;
    }

    /**
     * Finds less certain matches: rows of tables whose statement is not known yet, and statements that a log truncated.
     */
    private ActionState findApproximateMatch(ActionObservation event) {
        ActionState known = null;
        if (rowsOnly > 0 && event.serverQuery() == 0 && event.tables() != 0) {
            known = first(near(byTime, 0, event), action -> action.mayBeRowsOf(event));
        }
        if (known == null && (event.truncated() || truncated > 0)) {
            known = first(near(byTime, 0, event), action -> action.mayBeCut(event));
        }
        return known;
    }

    /** Returns whether any source of the session records the other boundary: of one log, none does. */
    private boolean mayHaveOtherBoundary(ActionObservation event) {
        int others = event.isBeginning() ? ~RecordSource.AT_START : RecordSource.AT_START;
        return (event.source() & RecordSource.SLOW) == 0 && (sources & others) != 0;
    }

    /**
     * Finds the preceding statement for an end, or the following one for a start, if it is the same statement and only
     * its other boundary was recorded.
     */
    private ActionState matchingStartOrEnd(ActionObservation event) {
        Place place = new Place(0, event.candidateAction().micros(), Long.MAX_VALUE);
        Map.Entry<Place, ActionState> next = event.isBeginning() ? byTime.higherEntry(place) : byTime.floorEntry(place);
        boolean near = next != null
                && Math.abs(next.getKey().micros() - event.candidateAction().micros()) <= MAX_WAIT_MICROS;
        return near && next.getValue().isOtherBoundaryOf(event) ? next.getValue() : null;
    }

    private Collection<ActionState> near(NavigableMap<Place, ActionState> actions, long kind, ActionObservation event) {
        long reach = TOLERANCE_MICROS + Math.max(maxMinimumDuration, event.minimumDurationMicros());
        long micros = event.candidateAction().micros();
        return actions.subMap(new Place(kind, micros - reach, 0), new Place(kind, micros + reach, Long.MAX_VALUE))
                .values();
    }

    private static ActionState first(Collection<ActionState> actions, Predicate<ActionState> wanted) {
        int inspected = 0;
        for (ActionState action : actions) {
            if (wanted.test(action)) {
                return action;
            }
            if (++inspected == MAX_CANDIDATES) {
                return null;
            }
        }
        return null;
    }

    private static ActionState last(Collection<ActionState> actions, Predicate<ActionState> wanted) {
        ActionState last = null;
        for (ActionState action : actions) {
            last = wanted.test(action) ? action : last;
        }
        return last;
    }

    private void join(ActionState action, ActionObservation event) {
        remove(action);
        action.join(event);
        put(action);
    }

    private void add(ActionState action) {
        action.number(added++);
        put(action);
        while (byTime.size() > limit) {
            remove(byTime.firstEntry().getValue());
        }
    }

    private static Place placeOf(long kind, ActionState action) {
        return new Place(kind, action.micros(), action.number());
    }

    private void put(ActionState action) {
        byTime.put(placeOf(0, action), action);
        await(action);
        if (action.serverQuery() != 0) {
            byServerQuery.put(action.serverQuery(), action);
        }
        for (long member : action.members()) {
            byMember.put(member, action);
        }
        rowsOnly += action.isRowsOnly() ? 1 : 0;
        truncated += action.isTruncated() ? 1 : 0;
        maxMinimumDuration = Math.max(maxMinimumDuration, action.minimumDurationMicros());
    }

    private void remove(ActionState action) {
        byTime.remove(placeOf(0, action));
        awaiting.remove(placeOf(action.kind(), action));
        byServerQuery.remove(action.serverQuery(), action);
        for (long member : action.members()) {
            byMember.remove(member);
        }
        rowsOnly -= action.isRowsOnly() ? 1 : 0;
        truncated -= action.isTruncated() ? 1 : 0;
    }

    /**
     * Forgets actions that ended before a time, in microseconds since 1970 UTC.
     *
     * @return whether no action is left, so that the state may be dropped
     */
    boolean forget(long before) {
        List<ActionState> old = byTime.headMap(new Place(0, before, 0)).values().stream()
                .filter(action -> action.micros() + action.minimumDurationMicros() < before)
                .toList();
        old.forEach(this::remove);
        maxMinimumDuration = byTime.values().stream()
                .mapToLong(ActionState::minimumDurationMicros)
                .max()
                .orElse(0);
        return byTime.isEmpty();
    }

    /** Returns the number of remembered actions. */
    int size() {
        return byTime.size();
    }

    /**
     * Returns the time of the latest action in microseconds since 1970 UTC, or the smallest number if there is none.
     */
    long latestMicros() {
        return byTime.isEmpty() ? Long.MIN_VALUE : byTime.lastKey().micros();
    }

    void write(DataOutput out) throws IOException {
        out.writeInt(sources);
        out.writeInt(byTime.size());
        for (ActionState action : byTime.values()) {
            action.write(out);
        }
    }

    /** @param reader reads one action in the layout of the state's version */
    static SessionActionIndex read(DataInput in, int limit, Reader reader) throws IOException {
        SessionActionIndex actions = new SessionActionIndex(limit);
        actions.sources = in.readInt();
        for (int count = in.readInt(); count > 0; count--) {
            actions.add(reader.read(in));
        }
        return actions;
    }

    /** Reads one action in the layout of a state version. */
    interface Reader {

        ActionState read(DataInput in) throws IOException;
    }
}
