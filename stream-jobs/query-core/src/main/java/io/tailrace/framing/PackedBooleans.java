package io.tailrace.framing;

/** Up to eight truth values in one byte, the form in which framers store them. */
public final class PackedBooleans {

    private PackedBooleans() {}

    /** Returns a byte whose lowest bit is the first value. */
    public static byte pack(boolean... values) {
        int packed = 0;
        for (int i = 0; i < values.length; i++) {
            packed |= values[i] ? 1 << i : 0;
        }
        return (byte) packed;
    }

    /** @param index from 0, in the order in which the values were passed to {@link #pack} */
    public static boolean get(byte packed, int index) {
        return (packed >> index & 1) != 0;
    }
}
