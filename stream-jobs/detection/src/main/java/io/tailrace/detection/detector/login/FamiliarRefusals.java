package io.tailrace.detection.detector.login;

import io.tailrace.detection.detector.volume.DailyHistory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The clients from which an account was refused or logged in before, or the pairs of account and client of a network:
 * at most eight. People mistype passwords at the same machine for years, and guesses begin at a new one.
 */
final class FamiliarRefusals {

    private static final int SIZE = 8;
    /** Number of days since the first login after which others are familiar. */
    private static final int FAMILIAR_AFTER = 7;

    private final long[] hashes = new long[SIZE];
    private final int[] first = new int[SIZE];
    private final int[] latest = new int[SIZE];
    private int size;

    /** Adds a login of a day since 1970; returns whether the first one was at least a week before. */
    boolean add(long hash, int day) {
        int place = find(hash);
        if (place < 0) {
            place = placeFor(day);
            if (place < 0) {
                return false;
            }
            hashes[place] = hash;
            first[place] = day;
            latest[place] = day;
        } else if (day - latest[place] >= DailyHistory.DAYS) {
            first[place] = day;
        }
        latest[place] = Math.max(latest[place], day);
        return day - first[place] >= FAMILIAR_AFTER;
    }

    /** Adds a login of a day since 1970; returns whether the client had none on this day or a later one. */
    boolean learn(long hash, int day) {
        int place = find(hash);
        boolean isNew = place < 0 || latest[place] < day;
        if (isNew) {
            add(hash, day);
        }
        return isNew;
    }

    /** Returns whether the logins of a client span at least a week, and the latest is within five weeks. */
    boolean contains(long hash, int day) {
        int place = find(hash);
        return place >= 0 && latest[place] - first[place] >= FAMILIAR_AFTER && day - latest[place] < DailyHistory.DAYS;
    }

    private int find(long hash) {
        for (int i = 0; i < size; i++) {
            if (hashes[i] == hash) {
                return i;
            }
        }
        return -1;
    }

    /** Returns a free place, or the place of a client without a refused login for five weeks; -1 if there is none. */
    private int placeFor(int day) {
        if (size < SIZE) {
            return size++;
        }
        for (int i = 0; i < SIZE; i++) {
            if (day - latest[i] >= DailyHistory.DAYS) {
                return i;
            }
        }
        return -1;
    }

    void write(DataOutput out) throws IOException {
        out.writeByte(size);
        for (int i = 0; i < size; i++) {
            out.writeLong(hashes[i]);
            out.writeInt(first[i]);
            out.writeInt(latest[i]);
        }
    }

    static FamiliarRefusals read(DataInput in) throws IOException {
        FamiliarRefusals read = new FamiliarRefusals();
        read.size = in.readByte();
        for (int i = 0; i < read.size; i++) {
            read.hashes[i] = in.readLong();
            read.first[i] = in.readInt();
            read.latest[i] = in.readInt();
        }
        return read;
    }
}
