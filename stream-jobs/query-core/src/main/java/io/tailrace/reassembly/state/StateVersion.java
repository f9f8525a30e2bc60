package io.tailrace.reassembly.state;

/** Versions of the layout of a log's state (docs/STATE.md). */
public final class StateVersion {

    /** The version that is written. The state is stored together with this number. */
    public static final int CURRENT = 4;
    /** The oldest version that is read. */
    public static final int OLDEST = 1;

    /** Since this version times are by two clocks, and files that left their path are kept. */
    public static final int WITH_TWO_CLOCKS = 2;
    /** Since this version hashes of ranges and signed ranges are stored. */
    public static final int WITH_SIGNED_RANGES = 3;
    /** Since this version a signed range has the closed ranges before it that its record signs. */
    public static final int WITH_EARLIER_RANGES = 4;

    private StateVersion() {}
}
