package io.tailrace.detection.action;

import io.tailrace.detection.event.ActionReference;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The actions of one session while events of it come, about 400 bytes each.
 *
 * <p>An event is of an action that is known if it is of the same kind (statements: the same fingerprint), if their
 * times differ by no more than {@link #TOLERANCE_MICROS} and the time that the statement took, and if its source has
 * not recorded it of it: of several, the earliest. So two equal statements in one log are two actions, and the same two
 * in two logs, too. Connection ids that start again after a restart are distinguished by time.
 */
final class SessionActionIndex {

    /** Logs write whole seconds, some at the statement's begin and some at its end, and threads overtake each other. */
    static final long TOLERANCE_MICROS = 2_000_000;

    /** A session's statements do not overlap: how long the end of the latest one is awaited. */
    private static final long MAX_WAIT_MICROS = 600_000_000;

    /** Of more actions that could be meant none is taken: a log whose statements all took days must not cost days. */
    private static final int MAX_CANDIDATES = 20_000;

    private static final Comparator<Place> BY_PLACE = Comparator.comparingLong(Place::kind)
            .thenComparingLong(Place::micros)
            .thenComparingLong(Place::number);

    /** @param number distinguishes actions of the same time: in the order in which they became known */
    private record Place(long kind, long micros, long number) {}

    private final NavigableMap<Place, ActionState> byTime = new TreeMap<>(BY_PLACE);
    /** Those that not every source seen here has recorded. */
    private final NavigableMap<Place, ActionState> awaiting = new TreeMap<>(BY_PLACE);

    private final Map<Long, ActionState> byServerQuery = new HashMap<>();
    private final Map<Long, ActionState> byMember = new HashMap<>();
    private final int limit;
    private int sources;
    private long added;
    private long maxMinimumDuration;
    private int rowsOnly;
    private int truncated;

    /** @param limit how many actions are remembered; beyond them the oldest goes */
    SessionActionIndex(int limit) {
        this.limit = limit;
    }

    /** The action that an event records: one that is known, or the event's own, which is known from now on. */
    ActionReference resolve(ActionObservation event) {
        addSource(event.source());
        ActionState known = byMember.get(TextHash.of(event.candidateAction().id()));
        if (known != null) {
            return known.action();
        }
        known = event.isRow() ? ofRow(event) : ofStatement(event);
        if (known != null) {
            join(known, event);
            return known.action();
        }
        if (event.kind() != 0 || event.serverQuery() != 0) {
            add(new ActionState(event));
        }
        return event.candidateAction();
    }

    /** A new source may record everything that is remembered. */
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
        Collection<ActionState> alike = near(awaiting, event.kind(), event);
        ActionState known = first(alike, action -> action.awaits(event));
        if (known == null && event.verb() != 0) {
            known = matchingStartOrEnd(event);
        }
        if (known == null && event.serverQuery() != 0) {
            known = Optional.ofNullable(byServerQuery.get(event.serverQuery()))
                    .filter(rows -> rows.isRowsOnly() && rows.isNear(event))
                    .orElse(null);
        }
        return known == null ? findApproximateMatch(event) : known;
    }

    /** What is less certain: rows of tables whose statement is not known yet, and statements that a log has cut. */
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

    /** The statement before an end, or after a begin, if it is the same and only its other end was recorded. */
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
        int looked = 0;
        for (ActionState action : actions) {
            if (wanted.test(action)) {
                return action;
            }
            if (++looked == MAX_CANDIDATES) {
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
     * Forgets actions that ended before a time, microseconds since 1970 UTC.
     *
     * @return whether nothing is left, so that the state may be dropped
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

    /** How many actions are remembered. */
    int size() {
        return byTime.size();
    }

    /** Of the latest action, microseconds since 1970 UTC; of none the smallest number. */
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

    /** @param reader of one action, as the state's version writes it */
    static SessionActionIndex read(DataInput in, int limit, Reader reader) throws IOException {
        SessionActionIndex actions = new SessionActionIndex(limit);
        actions.sources = in.readInt();
        for (int count = in.readInt(); count > 0; count--) {
            actions.add(reader.read(in));
        }
        return actions;
    }

    /** How an action was written. */
    interface Reader {

        ActionState read(DataInput in) throws IOException;
    }
}
