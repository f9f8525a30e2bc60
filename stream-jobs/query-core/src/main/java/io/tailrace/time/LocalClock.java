package io.tailrace.time;

import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneRules;
import java.util.List;

/**
 * Reads local times of a log whose lines carry no zone. Remembers the last answer, for a log repeats its second. Not
 * thread-safe.
 */
public final class LocalClock {

    private String zone = "";
    private ZoneRules rules = ZoneOffset.UTC.getRules();
    private long lastLocal = CivilTime.NONE;
    private long lastHint;
    private long lastUtc;

    /**
     * Epoch seconds of a local time.
     *
     * @param zoneName IANA name; one that is unknown is read as UTC
     * @param localSecond the local time's seconds since 1970 as if it were UTC
     * @param hint epoch seconds near the answer, which decides in the hour that a clock set back repeats; 0 for none:
     *     then the earlier
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
