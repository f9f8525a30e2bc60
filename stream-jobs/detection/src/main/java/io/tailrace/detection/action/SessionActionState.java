package io.tailrace.detection.action;

import io.tailrace.detection.event.ActionReference;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The actions of one session, derived from the records of several logs in any order. This is the state to keep per
 * {@link ActionObservation#session}. Not for several threads.
 *
 * <p>Most sessions that are remembered have ended: they can be {@linkplain #pack packed} into some 60 bytes an action,
 * which are also what a checkpoint holds. The next event opens them.
 */
public final class SessionActionState {

    private static final byte FIRST_VERSION = 1;
    private static final byte VERSION = 2;
    private static final int INITIAL_BYTES = 256;

    private final int limit;
    /** Null while packed. */
    private SessionActionIndex open;
    /** Null while open. */
    private byte[] packed;

    private long nextCleanupMillis;
    private long ownerId;

    /** @param limit how many actions are remembered; beyond them the oldest goes */
    public SessionActionState(int limit) {
        this.limit = limit;
        this.open = new SessionActionIndex(limit);
    }

    /** The action that an event records: one that is known, or the event's own, which is known from now on. */
    public ActionReference resolve(ActionObservation event) {
        return open().resolve(event);
    }

    /**
     * Forgets actions that ended before a time, microseconds since 1970 UTC.
     *
     * @return whether nothing is left, so that the state may be dropped
     */
    public boolean forget(long before) {
        return open().forget(before);
    }

    /** How many actions are remembered. */
    public int size() {
        return open().size();
    }

    /** Of the latest action, microseconds since 1970 UTC; of none the smallest number. */
    public long latestMicros() {
        return open().latestMicros();
    }

    public boolean isPacked() {
        return packed != null;
    }

    /** Takes as little memory as possible until the next event. */
    public void pack() {
        if (packed == null) {
            packed = bytes();
            open = null;
        }
    }

    /** When the session is to be checked next, milliseconds since 1970 UTC; 0 in a state that does not know it. */
    public long nextCleanupMillis() {
        return nextCleanupMillis;
    }

    /** @param millis see {@link #nextCleanupMillis()} */
    public void scheduleCleanup(long millis) {
        nextCleanupMillis = millis;
    }

    /** Who counts this session among those that are remembered; 0: nobody. */
    public long ownerId() {
        return ownerId;
    }

    /** @param counter see {@link #ownerId()} */
    public void setOwner(long counter) {
        ownerId = counter;
    }

    private SessionActionIndex open() {
        if (packed != null) {
            open = read(new DataInputStream(new ByteArrayInputStream(packed)));
            packed = null;
        }
        return open;
    }

    private SessionActionIndex read(DataInput in) {
        try {
            return SessionActionIndex.read(in, limit, ActionState::read);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private byte[] bytes() {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream(INITIAL_BYTES);
            open.write(new DataOutputStream(bytes));
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes the state; it stays as it is. */
    public void write(DataOutput out) throws IOException {
        byte[] bytes = packed == null ? bytes() : packed;
        out.writeByte(VERSION);
        out.writeLong(nextCleanupMillis);
        out.writeLong(ownerId);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** Reads what {@link #write} wrote, now or before version 2; it is packed until it is used. */
    public static SessionActionState read(DataInput in, int limit) throws IOException {
        byte version = in.readByte();
        SessionActionState actions = new SessionActionState(limit);
        if (version == FIRST_VERSION) {
            actions.open = SessionActionIndex.read(in, limit, ActionState::readFirstVersion);
        } else if (version == VERSION) {
            actions.nextCleanupMillis = in.readLong();
            actions.ownerId = in.readLong();
            actions.packed = new byte[in.readInt()];
            actions.open = null;
            in.readFully(actions.packed);
        } else {
            throw new IOException("expected state of version " + VERSION + ", found " + version);
        }
        return actions;
    }
}
