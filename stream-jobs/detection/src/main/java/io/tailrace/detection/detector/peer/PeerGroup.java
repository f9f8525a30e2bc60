package io.tailrace.detection.detector.peer;

import io.tailrace.detection.detector.DetectorDefinition;
import io.tailrace.detection.detector.DetectorState;
import io.tailrace.detection.detector.firstseen.ExpiringValueSet;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * The members of a peer group and the values that each of them used. Times are hours since 1970, names and values are
 * hashes of 64 bits.
 */
final class PeerGroup implements DetectorState {

    /** One bit of a word per member. */
    static final int MAX_MEMBERS = 64;

    private static final byte VERSION = 1;
    private static final int FIRST_PLACES = 8;
    private static final int NEVER = Integer.MIN_VALUE / 2;

    private int firstHour = Integer.MAX_VALUE / 2;
    private int latestHour = NEVER;
    private int alertDay = NEVER;
    private int alertsOfDay;

    private int members;
    private long[] memberHashes = new long[FIRST_PLACES];
    private int[] memberFirst = new int[FIRST_PLACES];
    private int[] memberLatest = new int[FIRST_PLACES];

    private int values;
    private long[] valueHashes = new long[FIRST_PLACES];
    private int[] valueLatest = new int[FIRST_PLACES];
    private long[] valueUsers = new long[FIRST_PLACES];

    @Override
    public long latestMicros() {
        return latestHour == NEVER ? Long.MIN_VALUE : latestHour * ExpiringValueSet.HOUR;
    }

    int firstHour() {
        return firstHour;
    }

    int values() {
        return values;
    }

    /** Returns the bit of a member that was active in this hour; the member of the longest silence gives way to a new one. */
    long member(long hash, int hour) {
        firstHour = Math.min(firstHour, hour);
        latestHour = Math.max(latestHour, hour);
        for (int i = 0; i < members; i++) {
            if (memberHashes[i] == hash) {
                memberFirst[i] = Math.min(memberFirst[i], hour);
                memberLatest[i] = Math.max(memberLatest[i], hour);
                return 1L << i;
            }
        }
        int place = members < MAX_MEMBERS ? newMember() : replacedMember();
        memberHashes[place] = hash;
        memberFirst[place] = hour;
        memberLatest[place] = hour;
        return 1L << place;
    }

    private int newMember() {
        if (members == memberHashes.length) {
            int places = Math.min(MAX_MEMBERS, 2 * members);
            memberHashes = Arrays.copyOf(memberHashes, places);
            memberFirst = Arrays.copyOf(memberFirst, places);
            memberLatest = Arrays.copyOf(memberLatest, places);
        }
        return members++;
    }

    private int replacedMember() {
        int oldest = oldest(memberLatest, members);
        for (int i = 0; i < values; i++) {
            valueUsers[i] &= ~(1L << oldest);
        }
        return oldest;
    }

    private static int oldest(int[] hours, int size) {
        int oldest = 0;
        for (int i = 1; i < size; i++) {
            oldest = hours[i] < hours[oldest] ? i : oldest;
        }
        return oldest;
    }

    /**
     * Returns the members that are known since an hour and were active since another, without one of them.
     *
     * @param but bit of the member that does not count
     * @return one bit per member
     */
    long peers(long but, int knownSince, int activeSince) {
        long found = 0;
        for (int i = 0; i < members; i++) {
            if (memberFirst[i] <= knownSince && memberLatest[i] >= activeSince) {
                found |= 1L << i;
            }
        }
        return found & ~but;
    }

    /**
     * Records that a member used a value.
     *
     * @param limit maximum number of values; beyond it, the one that was not used for longest is forgotten
     * @return one bit for each member that used the value before
     */
    long use(long value, long member, int hour, int limit) {
        for (int i = 0; i < values; i++) {
            if (valueHashes[i] == value) {
                long before = valueUsers[i];
                valueUsers[i] |= member;
                valueLatest[i] = Math.max(valueLatest[i], hour);
                return before;
            }
        }
        int place = values < limit ? newValue(limit) : oldest(valueLatest, values);
        valueHashes[place] = value;
        valueLatest[place] = hour;
        valueUsers[place] = member;
        return 0;
    }

    private int newValue(int limit) {
        if (values == valueHashes.length) {
            int places = Math.min(limit, 2 * values);
            valueHashes = Arrays.copyOf(valueHashes, places);
            valueLatest = Arrays.copyOf(valueLatest, places);
            valueUsers = Arrays.copyOf(valueUsers, places);
        }
        return values++;
    }

    /** Returns the number of values that at least two members used. */
    int sharedValues() {
        int shared = 0;
        for (int i = 0; i < values; i++) {
            shared += Long.bitCount(valueUsers[i]) >= 2 ? 1 : 0;
        }
        return shared;
    }

    /** Counts an alert of a day since 1970; returns false if the day has as many as it may have. */
    boolean countAlert(int day, int limit) {
        if (day != alertDay) {
            alertDay = day;
            alertsOfDay = 0;
        }
        return alertsOfDay++ < limit;
    }

    @Override
    public void write(DataOutput out) throws IOException {
        out.writeByte(VERSION);
        out.writeInt(firstHour);
        out.writeInt(latestHour);
        out.writeInt(alertDay);
        out.writeInt(alertsOfDay);
        out.writeInt(members);
        for (int i = 0; i < members; i++) {
            out.writeLong(memberHashes[i]);
            out.writeInt(memberFirst[i]);
            out.writeInt(memberLatest[i]);
        }
        out.writeInt(values);
        for (int i = 0; i < values; i++) {
            out.writeLong(valueHashes[i]);
            out.writeInt(valueLatest[i]);
            out.writeLong(valueUsers[i]);
        }
    }

    @Override
    public void read(DataInput in) throws IOException {
        DetectorDefinition.requireVersion(in, VERSION);
        firstHour = in.readInt();
        latestHour = in.readInt();
        alertDay = in.readInt();
        alertsOfDay = in.readInt();
        readMembers(in);
        readValues(in);
    }

    private void readMembers(DataInput in) throws IOException {
        members = in.readInt();
        int places = Math.max(FIRST_PLACES, members);
        memberHashes = new long[places];
        memberFirst = new int[places];
        memberLatest = new int[places];
        for (int i = 0; i < members; i++) {
            memberHashes[i] = in.readLong();
            memberFirst[i] = in.readInt();
            memberLatest[i] = in.readInt();
        }
    }

    private void readValues(DataInput in) throws IOException {
        values = in.readInt();
        int places = Math.max(FIRST_PLACES, values);
        valueHashes = new long[places];
        valueLatest = new int[places];
        valueUsers = new long[places];
        for (int i = 0; i < values; i++) {
            valueHashes[i] = in.readLong();
            valueLatest[i] = in.readInt();
            valueUsers[i] = in.readLong();
        }
    }
}
