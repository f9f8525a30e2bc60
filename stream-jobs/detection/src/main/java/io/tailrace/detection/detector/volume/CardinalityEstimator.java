package io.tailrace.detection.detector.volume;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * Counts distinct hashes: exactly up to 64, then by HyperLogLog (Flajolet and others, 2007) with 256 registers of one
 * byte each. The error is about 7 %.
 */
public final class CardinalityEstimator {

    private static final int MAX_EXACT = 64;
    private static final int REGISTERS = 256;
    private static final int REGISTER_BITS = 8;
    /** The algorithm's constant for 256 registers. */
    private static final double ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

    private static final double SMALL = 2.5 * REGISTERS;

    private long[] exact = new long[4];
    private int size;
    private byte[] registers;

    /** Counts a hash; returns whether that changed the state. */
    public boolean add(long hash) {
        if (registers != null) {
            return register(hash);
        }
        if (contains(hash)) {
            return false;
        }
        addExact(hash);
        return true;
    }

    private boolean contains(long hash) {
        for (int i = 0; i < size; i++) {
            if (exact[i] == hash) {
                return true;
            }
        }
        return false;
    }

    private void addExact(long hash) {
        if (size == MAX_EXACT) {
            registers = new byte[REGISTERS];
            for (long each : exact) {
                register(each);
            }
            register(hash);
            exact = new long[0];
            size = 0;
            return;
        }
        if (size == exact.length) {
            exact = Arrays.copyOf(exact, 2 * size);
        }
        exact[size++] = hash;
    }

    private boolean register(long hash) {
        int register = (int) (hash >>> Long.SIZE - REGISTER_BITS);
        int rank = 1 + Long.numberOfLeadingZeros(hash << REGISTER_BITS | 1L << REGISTER_BITS - 1);
        if (rank <= registers[register]) {
            return false;
        }
        registers[register] = (byte) rank;
        return true;
    }

    public double estimate() {
        if (registers == null) {
            return size;
        }
        double sum = 0;
        int empty = 0;
        for (byte register : registers) {
            sum += Math.pow(2, -register);
            empty += register == 0 ? 1 : 0;
        }
        double raw = ALPHA * REGISTERS * REGISTERS / sum;
        return raw <= SMALL && empty > 0 ? REGISTERS * Math.log((double) REGISTERS / empty) : raw;
    }

    public void write(DataOutput out) throws IOException {
        out.writeBoolean(registers != null);
        if (registers != null) {
            out.write(registers);
            return;
        }
        out.writeByte(size);
        for (int i = 0; i < size; i++) {
            out.writeLong(exact[i]);
        }
    }

    public static CardinalityEstimator read(DataInput in) throws IOException {
        CardinalityEstimator count = new CardinalityEstimator();
        if (in.readBoolean()) {
            count.registers = new byte[REGISTERS];
            in.readFully(count.registers);
            return count;
        }
        for (int left = in.readUnsignedByte(); left > 0; left--) {
            count.add(in.readLong());
        }
        return count;
    }
}
