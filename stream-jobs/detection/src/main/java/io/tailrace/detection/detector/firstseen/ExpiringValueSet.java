package io.tailrace.detection.detector.firstseen;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * A bounded set of texts with the hour in which each was last seen: 12 bytes per text. Texts are stored as 64 bits of
 * their SHA-256 hash, so that an attacker cannot construct a name that counts as a known one.
 */
public final class ExpiringValueSet {

    public static final long HOUR = 3_600_000_000L;
    public static final long DAY = 24 * HOUR;

    /** Texts with their hashes, at most 300 kB. Threads may share it: a record is complete when another thread sees it. */
    private static final Hashed[] RECENT = new Hashed[1 << 9];

    private static final int MAX_RECENT_LENGTH = 256;

    private record Hashed(String text, long hash) {}

    private static final int FIRST_PLACES = 4;

    private long[] hashes = new long[FIRST_PLACES];
    private int[] hours = new int[FIRST_PLACES];
    private int size;

    int size() {
        return size;
    }

    /** Returns the first eight bytes of the SHA-256 of a text. Entities and queries repeat, so recent ones are known. */
    public static long hash(String text) {
        int place = text.hashCode() & RECENT.length - 1;
        Hashed known = RECENT[place];
        if (known == null || !known.text.equals(text)) {
            known = new Hashed(text, digest(text));
            if (text.length() <= MAX_RECENT_LENGTH) {
                RECENT[place] = known;
            }
        }
        return known.hash;
    }

    private static long digest(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Returns hours since 1970; an invalid time results in the smallest or largest hour. */
    public static int hour(long micros) {
        return (int) Math.max(Integer.MIN_VALUE / 2, Math.min(Integer.MAX_VALUE / 2, Math.floorDiv(micros, HOUR)));
    }

    /** Returns days since 1970, with the limits of {@link #hour}. */
    public static int day(long micros) {
        return hour(micros) / 24;
    }

    /** Returns the index of a text; -1 if it is unknown. */
    public int find(long hash) {
        for (int i = 0; i < size; i++) {
            if (hashes[i] == hash) {
                return i;
            }
        }
        return -1;
    }

    int hourAt(int place) {
        return hours[place];
    }

    /** Records that a known text was seen again; returns whether that changes the set. */
    public boolean touch(int place, int hour) {
        boolean later = hour > hours[place];
        hours[place] = later ? hour : hours[place];
        return later;
    }

    /**
     * Adds an unknown text.
     *
     * @param limit maximum number of texts; beyond it, the one that was not seen for longest is removed
     */
    public void add(long hash, int hour, int limit) {
        int place = size < limit ? size++ : oldest();
        if (place == hashes.length) {
            int places = Math.min(limit, 2 * place);
            hashes = Arrays.copyOf(hashes, places);
            hours = Arrays.copyOf(hours, places);
        }
        hashes[place] = hash;
        hours[place] = hour;
    }

    private int oldest() {
        int oldest = 0;
        for (int i = 1; i < size; i++) {
            oldest = hours[i] < hours[oldest] ? i : oldest;
        }
        return oldest;
    }

    public void write(DataOutput out) throws IOException {
        out.writeInt(size);
        for (int i = 0; i < size; i++) {
            out.writeLong(hashes[i]);
            out.writeInt(hours[i]);
        }
    }

    public static ExpiringValueSet read(DataInput in) throws IOException {
        ExpiringValueSet values = new ExpiringValueSet();
        int size = in.readInt();
        for (int i = 0; i < size; i++) {
            values.add(in.readLong(), in.readInt(), size);
        }
        return values;
    }
}
