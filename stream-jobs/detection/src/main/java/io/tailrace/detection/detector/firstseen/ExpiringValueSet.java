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
 * A bounded set of texts with the hour in which each was last seen: 12 bytes a text. Texts are kept as 64 bits of their
 * SHA-256, so that nobody can make up a name that counts as a known one.
 */
public final class ExpiringValueSet {

    public static final long HOUR = 3_600_000_000L;
    private static final int FIRST_PLACES = 4;

    private long[] hashes = new long[FIRST_PLACES];
    private int[] hours = new int[FIRST_PLACES];
    private int size;

    int size() {
        return size;
    }

    public static long hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Hours since 1970; times that are no time give the least or largest hour. */
    public static int hour(long micros) {
        return (int) Math.max(Integer.MIN_VALUE / 2, Math.min(Integer.MAX_VALUE / 2, Math.floorDiv(micros, HOUR)));
    }

    /** Where the text is; -1: it is not known. */
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

    /** Says that a known text was seen again; returns whether that changes anything. */
    public boolean touch(int place, int hour) {
        boolean later = hour > hours[place];
        hours[place] = later ? hour : hours[place];
        return later;
    }

    /**
     * Adds a text that is not known.
     *
     * @param limit how many are kept; beyond, the one that was not seen for longest goes
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
