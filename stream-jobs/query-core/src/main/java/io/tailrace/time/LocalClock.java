package io.tailrace.time;

import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneRules;
import java.util.List;

/**
 * Converts local times of logs that write no zone. The last result is cached, because consecutive lines often have
 * the same second. Not thread-safe.
 */
public final class LocalClock {

    private String zone = "";
    private ZoneRules rules = ZoneOffset.UTC.getRules();
    private long lastLocal = CivilTime.NONE;
    private long lastHint;
    private long lastUtc;

    /**
     * Returns the epoch seconds of a local time.
     *
     * @param zoneName IANA name; an unknown one is read as UTC
     * @param localSecond the seconds since 1970 of the local time, as if it were UTC
     * @param hint epoch seconds near the result, which decide in the hour that is repeated when a clock is set back;
     *     0 if there are none: then the earlier one is returned
     */
    public long utc(String zoneName, long localSecond, long hint) {
        if (!zoneName.equals(zone)) {
            use(zoneName);
        }
        if (localSecond != lastLocal || hint != lastHint) {
            lastUtc = convert(localSecond, hint);
            lastLocal = localSecond;
            lastHint = hint;
        }
        return lastUtc;
    }

    private void use(String zoneName) {
        zone = zoneName;
        lastLocal = CivilTime.NONE;
        try {
            rules = ZoneId.of(zoneName).getRules();
        } catch (DateTimeException e) {
            rules = ZoneOffset.UTC.getRules();
        }
    }

    private long convert(long localSecond, long hint) {
        LocalDateTime local = LocalDateTime.ofEpochSecond(localSecond, 0, ZoneOffset.UTC);
        List<ZoneOffset> valid = rules.getValidOffsets(local);
        if (valid.isEmpty()) {
            return localSecond - rules.getTransition(local).getOffsetBefore().getTotalSeconds();
        }
        long earlier = localSecond - valid.get(0).getTotalSeconds();
        long later = localSecond - valid.get(valid.size() - 1).getTotalSeconds();
        return hint != 0 && Math.abs(later - hint) < Math.abs(earlier - hint) ? later : earlier;
    }
}
