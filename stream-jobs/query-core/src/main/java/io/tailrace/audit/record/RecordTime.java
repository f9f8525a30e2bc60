package io.tailrace.audit.record;

import io.tailrace.lexer.ByteText;
import io.tailrace.time.CivilTime;
import io.tailrace.time.LocalClock;

/** Parses {@code 2026-11-21T02:49:03} with T or a blank, and what may follow: {@code UTC}, {@code Z} or an offset. */
public final class RecordTime {

    private static final int LENGTH = "2026-11-21T02:49:03".length();

    private final LocalClock clock = new LocalClock();
    private final boolean localWithoutZone;

    /** @param localWithoutZone whether a time without a zone is local; otherwise it is UTC */
    public RecordTime(boolean localWithoutZone) {
        this.localWithoutZone = localWithoutZone;
    }

    /** Returns epoch microseconds, or {@link CivilTime#NONE}. */
    public long micros(byte[] bytes, int length, String zone) {
        long complete = CivilTime.iso(bytes, 0, length);
        if (complete != CivilTime.NONE) {
            return complete;
        }
        long second = CivilTime.isoSecond(bytes, 0, length);
        if (second == CivilTime.NONE) {
            return CivilTime.NONE;
        }
        boolean zoned = ByteText.skipBlanks(bytes, LENGTH, length) < length;
        return (zoned || !localWithoutZone ? second : clock.utc(zone, second, 0)) * 1_000_000;
    }
}
