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
 * The actions of one session, derived from the records of several logs in any order. An engine keeps this state per
 * {@link ActionObservation#session}. Not thread-safe.
 *
 * <p>Most remembered sessions have ended. They can be {@linkplain #pack packed} into about 60 bytes per action, which
 * is also the form in checkpoints. The next event unpacks them.
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

    /** @param limit maximum number of remembered actions; beyond it, the oldest is forgotten */
    public SessionActionState(int limit) {
        this.limit = limit;
        this.open = new SessionActionIndex(limit);
    }

    /** Returns the action that an event records: a known one, or the event's own, which is then remembered. */
    public ActionReference resolve(ActionObservation event) {
        return open().resolve(event);
    }

    /**
     * Forgets actions that ended before a time, in microseconds since 1970 UTC.
     *
     * @return whether no action is left, so that the state may be dropped
     */
    public boolean forget(long before) {
        return open().forget(before);
    }

    /** Returns the number of remembered actions. */
    public int size() {
        return open().size();
    }

    /**
     * Returns the time of the latest action in microseconds since 1970 UTC, or the smallest number if there is none.
     */
    public long latestMicros() {
        return open().latestMicros();
    }

    public boolean isPacked() {
        return packed != null;
    }

    /** Compresses the actions until the next event. */
    public void pack() {
        if (packed == null) {
            packed = bytes();
            open = null;
        }
    }

    /**
     * Returns when the session is to be checked next, in milliseconds since 1970 UTC; 0 if the state does not contain
     * it.
     */
    public long nextCleanupMillis() {
        return nextCleanupMillis;
    }

    /** @param millis see {@link #nextCleanupMillis()} */
    public void scheduleCleanup(long millis) {
        nextCleanupMillis = millis;
    }

    /** Returns the id of the counter that includes this session among the remembered ones; 0: none. */
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

    /** Writes the state without changing it. */
    public void write(DataOutput out) throws IOException {
        byte[] bytes = packed == null ? bytes() : packed;
        out.writeByte(VERSION);
        out.writeLong(nextCleanupMillis);
        out.writeLong(ownerId);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /**
     * Reads the output of {@link #write}, of this version or of one before version 2. The actions stay packed until
     * they are used.
     */
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
