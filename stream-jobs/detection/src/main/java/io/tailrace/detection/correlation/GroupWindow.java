package io.tailrace.detection.correlation;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The state of a correlation for one group: the matches that may still count, and the times at which it fired. An
 * engine keeps this state per key.
 */
public final class GroupWindow {

    /**
     * Version 2 identifies a rule by a number of its own instead of its index in the correlation; {@link RuleIds} maps
     * both.
     */
    private static final byte VERSION = 2;

    private static final byte FIRST_VERSION = 1;

    private final List<RuleMatch> occurrences = new ArrayList<>();
    private final List<Long> fired = new ArrayList<>();
    /** End times of windows up to here were evaluated with a condition that further matches can make false. */
    private long settled = Long.MIN_VALUE;
    /** No match expires before; spares a scan each time the watermark advances. Not part of the state. */
    private long earliestExpiry = Long.MAX_VALUE;
    /** Every match is needed for at least this long after its time. Not part of the state. */
    private long leastRetention = Long.MAX_VALUE;

    /** Returns whether nothing of the group needs to be stored. */
    public boolean isEmpty() {
        return occurrences.isEmpty() && fired.isEmpty();
    }

    List<RuleMatch> occurrences() {
        return occurrences;
    }

    List<Long> fired() {
        return fired;
    }

    long settled() {
        return settled;
    }

    void settle(long micros) {
        settled = Math.max(settled, micros);
    }

    /**
     * Adds a match in the order of time.
     *
     * @param limit maximum number of matches; beyond it, the oldest match of the same rule and value is dropped
     * @return the index of the match; negative if it was present already
     */
    int add(RuleMatch occurrence, int limit) {
        int place = Collections.binarySearch(occurrences, occurrence, RuleMatch.BY_TIME);
        if (place >= 0) {
            named(occurrence, place);
            return -1;
        }
        int at = -place - 1;
        if (occurrences.size() >= limit) {
            int oldest = oldestLike(occurrence);
            occurrences.remove(oldest);
            at -= oldest < at ? 1 : 0;
        }
        occurrences.add(at, named(occurrence, at));
        noteExpiry(occurrence);
        return at;
    }

    /**
     * Returns the match with the name of its action: all matches of an action name its first event that is not a row of a
     * table, even if rows matched before it.
     *
     * @param at where the match is or will be
     */
    private RuleMatch named(RuleMatch match, int at) {
        boolean isBefore = at > 0 && occurrences.get(at - 1).isSameAction(match);
        boolean isAfter = at < occurrences.size() && occurrences.get(at).isSameAction(match);
        if (!isBefore && !isAfter) {
            return match;
        }
        String known = occurrences.get(isAfter ? at : at - 1).recordId();
        if (known.isEmpty() && !match.recordId().isEmpty()) {
            nameAction(match, at);
        }
        return known.isEmpty() || known.equals(match.recordId()) ? match : match.withRecord(known);
    }

    private void nameAction(RuleMatch named, int at) {
        for (int i = at - 1; i >= 0 && occurrences.get(i).isSameAction(named); i--) {
            occurrences.set(i, occurrences.get(i).withRecord(named.recordId()));
        }
        for (int i = at; i < occurrences.size() && occurrences.get(i).isSameAction(named); i++) {
            occurrences.set(i, occurrences.get(i).withRecord(named.recordId()));
        }
    }

    /** Returns whether a match of the same action and rule is present, whatever its value; it then names its action. */
    boolean joins(RuleMatch match) {
        int place = Collections.binarySearch(occurrences, match, RuleMatch.BY_TIME);
        int at = place >= 0 ? place : -place - 1;
        boolean isPresent = place >= 0
                || at < occurrences.size() && occurrences.get(at).isSameEvent(match)
                || at > 0 && occurrences.get(at - 1).isSameEvent(match);
        if (isPresent) {
            named(match, at);
        }
        return isPresent;
    }

    /** Replaces the oldest matches by others in the order of time. */
    void replaceOldest(int count, List<RuleMatch> others) {
        List<RuleMatch> replaced = List.copyOf(others);
        occurrences.subList(0, count).clear();
        occurrences.addAll(0, replaced);
        noteExpiries();
    }

    private int oldestLike(RuleMatch occurrence) {
        for (int i = 0; i < occurrences.size(); i++) {
            if (occurrences.get(i).isLike(occurrence)) {
                return i;
            }
        }
        return 0;
    }

    /**
     * Drops a match between two others of the same rule and value if every window that contains it also contains one of
     * them, so that a value that occurs continuously needs the memory of three.
     *
     * @param latest the match that was added
     * @param span length of a window, microseconds
     */
    void compact(RuleMatch latest, long span) {
        int at = Collections.binarySearch(occurrences, latest, RuleMatch.BY_TIME);
        int middle = previousLike(at);
        int first = previousLike(middle);
        if (first >= 0 && latest.micros() - occurrences.get(first).micros() <= span) {
            occurrences.remove(middle);
        }
    }

    /**
     * Returns whether the match at an index is the last one, and one of the same rule and value is within the span
     * before it.
     */
    boolean isRepeatedAtEnd(int place, long span) {
        int previous = place == occurrences.size() - 1 ? previousLike(place) : -1;
        return previous >= 0
                && occurrences.get(place).micros() - occurrences.get(previous).micros() <= span;
    }

    private int previousLike(int at) {
        int i = at - 1;
        while (i >= 0 && !occurrences.get(i).isLike(occurrences.get(at))) {
            i--;
        }
        return i;
    }

    /** Forgets matches that no window needs any longer. */
    void forget(long watermark, long firedBefore) {
        if (earliestExpiry < watermark) {
            dropExpired(watermark);
        }
        if (!fired.isEmpty()) {
            fired.removeIf(micros -> micros < firedBefore);
        }
    }

    /** Inspects only matches so old that they expire unless they were late: each of the others once, when it goes. */
    private void dropExpired(long watermark) {
        int old = firstFrom(watermark - leastRetention);
        int kept = 0;
        earliestExpiry = Long.MAX_VALUE;
        for (int i = 0; i < old; i++) {
            RuleMatch occurrence = occurrences.get(i);
            if (occurrence.expires() >= watermark) {
                occurrences.set(kept++, occurrence);
                earliestExpiry = Math.min(earliestExpiry, occurrence.expires());
            }
        }
        occurrences.subList(kept, old).clear();
        if (kept < occurrences.size()) {
            earliestExpiry = Math.min(earliestExpiry, occurrences.get(kept).micros() + leastRetention);
        }
    }

    private void noteExpiries() {
        earliestExpiry = Long.MAX_VALUE;
        leastRetention = Long.MAX_VALUE;
        occurrences.forEach(this::noteExpiry);
    }

    private void noteExpiry(RuleMatch occurrence) {
        earliestExpiry = Math.min(earliestExpiry, occurrence.expires());
        leastRetention = Math.min(leastRetention, occurrence.expires() - occurrence.micros());
    }

    /**
     * Returns the watermark up to which {@link #forget} changes nothing, in microseconds; the smallest number if the
     * window is empty and may be dropped.
     *
     * @param firedRetention how long a time at which the correlation fired is remembered, microseconds
     */
    long unchangedUntil(long firedRetention) {
        long until = isEmpty() ? Long.MIN_VALUE : earliestExpiry;
        for (int i = 0; i < fired.size(); i++) {
            until = Math.min(until, fired.get(i) + firedRetention);
        }
        return until;
    }

    /** Returns the index of the first match at this time or later. */
    int firstFrom(long micros) {
        int low = 0;
        int high = occurrences.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (occurrences.get(middle).micros() < micros) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Writes the state. */
    public void write(DataOutput out) throws IOException {
        out.writeByte(VERSION);
        out.writeLong(settled);
        out.writeInt(fired.size());
        for (long micros : fired) {
            out.writeLong(micros);
        }
        out.writeInt(occurrences.size());
        for (RuleMatch occurrence : occurrences) {
            occurrence.write(out);
        }
    }

    /** Reads the output of {@link #write}. */
    public static GroupWindow read(DataInput in) throws IOException {
        byte version = in.readByte();
        if (version < FIRST_VERSION || version > VERSION) {
            throw new IOException(
                    "expected state of version " + FIRST_VERSION + " to " + VERSION + ", found " + version);
        }
        GroupWindow window = new GroupWindow();
        window.settled = in.readLong();
        for (int count = in.readInt(); count > 0; count--) {
            window.fired.add(in.readLong());
        }
        for (int count = in.readInt(); count > 0; count--) {
            window.occurrences.add(RuleMatch.read(in));
        }
        window.noteExpiries();
        return window;
    }
}
