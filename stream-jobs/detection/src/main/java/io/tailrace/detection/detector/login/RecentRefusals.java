package io.tailrace.detection.detector.login;

import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * The latest refused logins of an entity: enough to recognize what the rules of minutes report, and an action that arrives
 * again from another log.
 */
final class RecentRefusals {

    private static final int SIZE = 12;
    private static final long MINUTE = ExpiringValueSet.HOUR / 60;
    private static final int BRUTE_FORCE = 10;
    private static final int SPRAYED = 5;

    private final long[] micros = new long[SIZE];
    private final long[] others = new long[SIZE];
    private final long[] actions = new long[SIZE];
    private int size;
    private int next;

    /**
     * Adds a refused login.
     *
     * @param other hash of the other side: of the client for an account, of the account for a client
     * @return false if the action is known
     */
    boolean add(long time, long other, long action) {
        for (int i = 0; i < size; i++) {
            if (actions[i] == action) {
                return false;
            }
        }
        micros[next] = time;
        others[next] = other;
        actions[next] = action;
        next = (next + 1) % SIZE;
        size = Math.min(SIZE, size + 1);
        return true;
    }

    /** Returns the number of refused logins within some minutes before a time, this time included. */
    int count(long time, int minutes) {
        int count = 0;
        for (int i = 0; i < size; i++) {
            count += isWithin(i, time, minutes) ? 1 : 0;
        }
        return count;
    }

    /** Returns whether all stored refused logins have this other side and are at most a day before a time. */
    boolean isFullOf(long other, long time) {
        for (int i = 0; i < size; i++) {
            if (others[i] != other || !isWithin(i, time, 24 * 60)) {
                return false;
            }
        }
        return size == SIZE;
    }

    /** Returns whether the rule brute_force has fired: ten of one account and client within five minutes. */
    boolean isBruteForce(long time, long other) {
        int count = 0;
        for (int i = 0; i < size; i++) {
            count += others[i] == other && isWithin(i, time, 5) ? 1 : 0;
        }
        return count >= BRUTE_FORCE;
    }

    /** Returns whether five other sides occur within ten minutes: the rules distributed_guessing, password_spraying. */
    boolean isSprayed(long time) {
        Set<Long> distinct = new HashSet<>();
        for (int i = 0; i < size; i++) {
            if (isWithin(i, time, 10)) {
                distinct.add(others[i]);
            }
        }
        return distinct.size() >= SPRAYED;
    }

    private boolean isWithin(int place, long time, int minutes) {
        return micros[place] <= time && time - micros[place] <= minutes * MINUTE;
    }

    void write(DataOutput out) throws IOException {
        out.writeByte(size);
        out.writeByte(next);
        for (int i = 0; i < size; i++) {
            out.writeLong(micros[i]);
            out.writeLong(others[i]);
            out.writeLong(actions[i]);
        }
    }

    static RecentRefusals read(DataInput in) throws IOException {
        RecentRefusals read = new RecentRefusals();
        read.size = in.readByte();
        read.next = in.readByte();
        for (int i = 0; i < read.size; i++) {
            read.micros[i] = in.readLong();
            read.others[i] = in.readLong();
            read.actions[i] = in.readLong();
        }
        return read;
    }
}
