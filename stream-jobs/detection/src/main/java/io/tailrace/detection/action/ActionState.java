package io.tailrace.detection.action;

import io.tailrace.detection.event.ActionReference;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;

/** An action with everything that its events have reported so far. */
final class ActionState {

    /** Number of events of one action that are recognized when they arrive again. */
    private static final int MAX_MEMBERS = 16;

    private static final int ID_IS_UUID = 1;
    private static final int OF_ONE_EVENT = 2;
    private static final int KNOWS_ORIGIN = 4;
    private static final int TRUNCATED = 8;
    private static final int OF_SERVER_QUERY = 16;
    private static final int TOOK_TIME = 32;
    private static final int UUID_LENGTH = 36;

    private final ActionReference action;
    /** Distinguishes actions of the same time: their order of arrival. */
    private long number;

    private long kind;
    private long serverQuery;
    private int sources;
    private int verb;
    private boolean truncated;
    private long tables;
    private long minimumDurationMicros;
    private LoginOrigin origin;
    private long[] members;

    /** @param member hash of the id of the first event */
    ActionState(ActionObservation first, long member) {
        action = first.candidateAction();
        kind = first.kind();
        serverQuery = first.serverQuery();
        sources = first.source();
        verb = first.verb();
        truncated = first.truncated();
        tables = first.tables();
        minimumDurationMicros = first.minimumDurationMicros();
        origin = first.origin();
        members = new long[] {member};
    }

    private ActionState(ActionReference action) {
        this.action = action;
    }

    /** Writes about 60 bytes: values that most actions lack are omitted, and an event id is written as its 16 bytes. */
    void write(DataOutput out) throws IOException {
        Optional<UUID> uuid = uuid(action.id());
        boolean ofOneEvent = members.length == 1 && members[0] == TextHash.of(action.id());
        boolean knowsOrigin = !origin.equals(LoginOrigin.UNKNOWN);
        out.writeByte((uuid.isPresent() ? ID_IS_UUID : 0)
                | (ofOneEvent ? OF_ONE_EVENT : 0)
                | (knowsOrigin ? KNOWS_ORIGIN : 0)
                | (truncated ? TRUNCATED : 0)
                | (serverQuery != 0 ? OF_SERVER_QUERY : 0)
                | (minimumDurationMicros != 0 ? TOOK_TIME : 0));
        if (uuid.isPresent()) {
            out.writeLong(uuid.get().getMostSignificantBits());
            out.writeLong(uuid.get().getLeastSignificantBits());
        } else {
            out.writeUTF(action.id());
        }
        out.writeLong(action.micros());
        out.writeLong(action.order());
        out.writeLong(kind);
        out.writeInt(sources);
        out.writeInt(verb);
        out.writeLong(tables);
        if (serverQuery != 0) {
            out.writeLong(serverQuery);
        }
        if (minimumDurationMicros != 0) {
            out.writeLong(minimumDurationMicros);
        }
        if (knowsOrigin) {
            origin.write(out);
        }
        if (!ofOneEvent) {
            writeMembers(out);
        }
    }

    private static Optional<UUID> uuid(String id) {
        if (id.length() != UUID_LENGTH) {
            return Optional.empty();
        }
        try {
            return Optional.of(UUID.fromString(id))
                    .filter(uuid -> uuid.toString().equals(id));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private void writeMembers(DataOutput out) throws IOException {
        out.writeByte(members.length);
        for (long member : members) {
            out.writeLong(member);
        }
    }

    static ActionState read(DataInput in) throws IOException {
        byte has = in.readByte();
        String id = (has & ID_IS_UUID) != 0 ? new UUID(in.readLong(), in.readLong()).toString() : in.readUTF();
        ActionState read = new ActionState(new ActionReference(id, in.readLong(), in.readLong()));
        read.kind = in.readLong();
        read.sources = in.readInt();
        read.verb = in.readInt();
        read.tables = in.readLong();
        read.serverQuery = (has & OF_SERVER_QUERY) != 0 ? in.readLong() : 0;
        read.minimumDurationMicros = (has & TOOK_TIME) != 0 ? in.readLong() : 0;
        read.origin = (has & KNOWS_ORIGIN) != 0 ? LoginOrigin.read(in) : LoginOrigin.UNKNOWN;
        read.truncated = (has & TRUNCATED) != 0;
        read.members = (has & OF_ONE_EVENT) != 0 ? new long[] {TextHash.of(id)} : readMembers(in);
        return read;
    }

    /** Reads the layout of state version 1. */
    static ActionState readFirstVersion(DataInput in) throws IOException {
        ActionState read = new ActionState(new ActionReference(in.readUTF(), in.readLong(), in.readLong()));
        read.kind = in.readLong();
        read.serverQuery = in.readLong();
        read.sources = in.readInt();
        read.verb = in.readInt();
        read.truncated = in.readBoolean();
        read.tables = in.readLong();
        read.minimumDurationMicros = in.readLong();
        read.origin = in.readBoolean() ? LoginOrigin.read(in) : LoginOrigin.UNKNOWN;
        read.members = readMembers(in);
        return read;
    }

    private static long[] readMembers(DataInput in) throws IOException {
        long[] members = new long[in.readByte()];
        for (int i = 0; i < members.length; i++) {
            members[i] = in.readLong();
        }
        return members;
    }

    long number() {
        return number;
    }

    void number(long place) {
        number = place;
    }

    ActionReference action() {
        return action;
    }

    long micros() {
        return action.micros();
    }

    long kind() {
        return kind;
    }

    long serverQuery() {
        return serverQuery;
    }

    long minimumDurationMicros() {
        return minimumDurationMicros;
    }

    boolean isTruncated() {
        return truncated;
    }

    /** Returns whether only rows of tables have recorded this action. */
    boolean isRowsOnly() {
        return sources == 0;
    }

    /** Returns the hashes of the ids of its events. */
    long[] members() {
        return members;
    }

    int sources() {
        return sources;
    }

    /**
     * Returns whether another event may belong to this action: its source has not recorded it, and nothing contradicts
     * it.
     */
    boolean awaits(ActionObservation event) {
        return (sources & event.source()) == 0 && isNear(event) && origin.matches(event.origin());
    }

    boolean isNear(ActionObservation event) {
        long distance = Math.abs(micros() - event.candidateAction().micros());
        return distance
                <= Math.max(minimumDurationMicros, event.minimumDurationMicros()) + SessionActionIndex.TOLERANCE_MICROS;
    }

    /** Returns whether a row of a table may belong to this statement: no audit log has recorded it yet. */
    boolean mayTouch(ActionObservation row) {
        return kind != 0
                && serverQuery == 0
                && (sources & RecordSource.AUDIT) == 0
                && (tables & row.tables()) == row.tables()
                && isNear(row);
    }

    /** Returns whether this statement may have changed these rows of tables. */
    boolean mayBeRowsOf(ActionObservation statement) {
        return isRowsOnly() && kind == 0 && (tables & ~statement.tables()) == 0 && isNear(statement);
    }

    /** Returns whether one of both texts was truncated, so that they cannot be compared. */
    boolean mayBeCut(ActionObservation statement) {
        return truncated != statement.truncated() && verb == statement.verb() && kind != 0 && awaits(statement);
    }

    /**
     * Returns whether all events of this action have the time of its start and the other event that of its end, or the
     * reverse, while no event contains the duration.
     */
    boolean isOtherBoundaryOf(ActionObservation event) {
        boolean timed = sources == 0 || ((sources | event.source()) & RecordSource.SLOW) != 0;
        boolean begun = (sources & ~RecordSource.AT_START) == 0;
        boolean ended = (sources & RecordSource.AT_START) == 0;
        return !timed && kind == event.kind() && (event.isBeginning() ? ended : begun);
    }

    /** Adds another event to this action. */
    void join(ActionObservation event) {
        if (kind == 0 || truncated && !event.truncated() && event.kind() != 0) {
            kind = event.kind();
            verb = event.verb();
            truncated = event.truncated();
        }
        serverQuery = serverQuery == 0 ? event.serverQuery() : serverQuery;
        sources |= event.source();
        tables |= event.tables();
        minimumDurationMicros = Math.max(minimumDurationMicros, event.minimumDurationMicros());
        origin = origin.and(event.origin());
        if (members.length < MAX_MEMBERS) {
            members = Arrays.copyOf(members, members.length + 1);
            members[members.length - 1] = TextHash.of(event.candidateAction().id());
        }
    }
}
