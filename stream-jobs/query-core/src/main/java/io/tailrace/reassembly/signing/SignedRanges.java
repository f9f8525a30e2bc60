package io.tailrace.reassembly.signing;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.content.RangeHashes.Comparison;
import io.tailrace.reassembly.generation.LogFileGeneration;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.reassembly.state.TwoClockTime;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * Compares the signed ranges of a log with its bytes, whichever arrives first, and reports each result. A range with
 * a gap is reported, and again when the gap is filled.
 */
public final class SignedRanges {

    /** Ranges that wait for their bytes: those of 1 GiB of a log. */
    private static final int MAX_WAITING = 65_536;
    /** Ranges whose bytes may still arrive after their result. */
    private static final int MAX_INCOMPLETE = 1_024;
    /** Period after which bytes no longer count as late, by the clocks of the job and of the collector. */
    private static final long TIMEOUT_MILLIS = 600_000;
    /** The same by the clock of the job alone, because the collector's stands still if nothing arrives. */
    private static final long JOB_TIMEOUT_MILLIS = 24 * 3_600_000L;

    private static final long HEADS_MILLIS = 1000;

    private static final class Pending {
        private final SignedRange range;
        private final TwoClockTime since;
        private long generation;

        private Pending(SignedRange range, TwoClockTime since) {
            this.range = range;
            this.since = since;
        }
    }

    private final SortedMap<Long, LogFileGeneration> generations;
    private final List<Pending> waiting = new ArrayList<>();
    private final List<Pending> incomplete = new ArrayList<>();
    /** The files with a head, by the head; for a second at most, while no file is added. */
    private final Map<String, List<LogFileGeneration>> byHead = new HashMap<>();

    private final SignedRangeReport report;
    private boolean signed;
    private long headsOf;
    private long headsSince;

    public SignedRanges(SortedMap<Long, LogFileGeneration> generations, SignedRangeReport report) {
        this.generations = generations;
        this.report = report;
    }

    /** Returns whether any signed range of the log has arrived. */
    public boolean signed() {
        return signed;
    }

    /** Returns whether ranges wait for their bytes. */
    public boolean waiting() {
        return !waiting.isEmpty();
    }

    public void take(SignedRange range, TwoClockTime now) {
        signed = true;
        long signedAt = range.getSignedAt().toEpochMilli();
        Pending pending = new Pending(range, now.max(new TwoClockTime(0, signedAt)));
        forgetHeads(now);
        if (!settle(pending, false)) {
            waiting.add(pending);
            if (waiting.size() > MAX_WAITING) {
                report.unverified(waiting.remove(0).range, "too many ranges wait for their bytes");
            }
        }
    }

    /** Compares what waits with the bytes that have arrived meanwhile; returns whether a result was reported. */
    public boolean compareAgain(TwoClockTime now) {
        headsOf = 0;
        forgetHeads(now);
        int before = waiting.size() + incomplete.size();
        waiting.removeIf(pending -> settle(pending, isOverdue(pending, now)) || expire(pending, now));
        for (Iterator<Pending> ranges = incomplete.iterator(); ranges.hasNext(); ) {
            Pending pending = ranges.next();
            Comparison result = compareBound(pending);
            if (result == Comparison.EQUAL) {
                report.verified(pending.range, pending.generation);
                ranges.remove();
            } else if (result == Comparison.DIFFERENT) {
                report.mismatch(pending.range, pending.generation, "the bytes that filled a gap differ");
                ranges.remove();
            }
        }
        return waiting.size() + incomplete.size() != before;
    }

    private void forgetHeads(TwoClockTime now) {
        long newest = generations.isEmpty() ? 0 : generations.lastKey();
        if (newest != headsOf || now.job() - headsSince >= HEADS_MILLIS) {
            byHead.clear();
            headsOf = newest;
            headsSince = now.job();
        }
    }

    private Comparison compareBound(Pending pending) {
        LogFileGeneration generation = generations.get(pending.generation);
        return generation == null ? Comparison.UNKNOWN : compare(generation, pending.range);
    }

    private static Comparison compare(LogFileGeneration generation, SignedRange range) {
        return generation.compare(
                range.getFromOffset(),
                range.getToOffset(),
                range.getClosed(),
                HexFormat.of().parseHex(range.getSha256()));
    }

    /**
     * Returns whether the range needs no more input: then its result was reported.
     *
     * @param overdue whether other bytes in a file that may be another one count as well
     */
    private boolean settle(Pending pending, boolean overdue) {
        Set<Comparison> results = EnumSet.noneOf(Comparison.class);
        for (LogFileGeneration generation : candidates(pending)) {
            Comparison result = compare(generation, pending.range);
            boolean unsure = result == Comparison.DIFFERENT && !overdue && !hasHead(generation, pending.range);
            results.add(unsure ? Comparison.WAITING : result);
            pending.generation = result == Comparison.GAP ? generation.number() : pending.generation;
            if (result == Comparison.EQUAL) {
                report.verified(pending.range, generation.number());
                return true;
            }
        }
        if (results.isEmpty() || results.contains(Comparison.WAITING)) {
            return false;
        }
        reportOther(pending, results);
        return true;
    }

    private void reportOther(Pending pending, Set<Comparison> results) {
        if (results.contains(Comparison.DIFFERENT)) {
            report.mismatch(pending.range, numberOf(pending), "other bytes arrived");
        } else if (results.contains(Comparison.AMBIGUOUS)) {
            report.incomplete(pending.range, numberOf(pending), "one byte of the range is inferred, and may be lost");
        } else if (results.contains(Comparison.GAP)) {
            report.incomplete(pending.range, pending.generation, "a part of the range is a gap");
            incomplete.add(pending);
            if (incomplete.size() > MAX_INCOMPLETE) {
                incomplete.remove(0);
            }
        } else if (results.contains(Comparison.PASSED)) {
            report.superseded(pending.range, numberOf(pending));
        } else {
            report.unverified(pending.range, "the bytes arrived before the hashes of their ranges were stored");
        }
    }

    private long numberOf(Pending pending) {
        return candidates(pending).get(0).number();
    }

    /** The files that begin as the signed one; those with its inode first. */
    private List<LogFileGeneration> candidates(Pending pending) {
        LogFileGeneration bound = generations.get(pending.generation);
        if (bound != null) {
            return List.of(bound);
        }
        SignedRange range = pending.range;
        List<LogFileGeneration> found = new ArrayList<>();
        for (LogFileGeneration generation : withHead(range)) {
            found.add(generation.file().inode() == range.getInode() ? 0 : found.size(), generation);
        }
        return found;
    }

    private List<LogFileGeneration> withHead(SignedRange range) {
        return byHead.computeIfAbsent(
                range.getHeadLength() + "/" + range.getHeadHash() + "/" + range.getInode() + range.getPath(), key -> {
                    List<LogFileGeneration> found = new ArrayList<>();
                    for (LogFileGeneration generation : generations.values()) {
                        if (mayBe(generation, range)) {
                            found.add(generation);
                        }
                    }
                    return found;
                });
    }

    /**
     * A file whose first bytes are lost is found by its inode. One whose first line is longer than a head has none, and
     * is found by its path.
     */
    private static boolean mayBe(LogFileGeneration generation, SignedRange range) {
        if (range.getHeadLength() == 0) {
            return generation.path().equals(range.getPath());
        }
        Boolean head = generation.hasHead(range.getHeadLength(), range.getHeadHash());
        return head == null ? generation.file().inode() == range.getInode() : head;
    }

    private static boolean hasHead(LogFileGeneration generation, SignedRange range) {
        return Boolean.TRUE.equals(generation.hasHead(range.getHeadLength(), range.getHeadHash()));
    }

    private static boolean isOverdue(Pending pending, TwoClockTime now) {
        return pending.since.isPast(TIMEOUT_MILLIS, now) || now.job() - pending.since.job() >= JOB_TIMEOUT_MILLIS;
    }

    private boolean expire(Pending pending, TwoClockTime now) {
        if (!isOverdue(pending, now)) {
            return false;
        }
        LogFileGeneration altered = alteredFile(pending.range);
        if (altered == null) {
            report.unverified(pending.range, "the bytes did not arrive in time");
        } else {
            report.mismatch(pending.range, altered.number(), "no file that arrived begins as the signed one");
        }
        return true;
    }

    /** Returns a file in the place of the signed one that begins differently, and that no census knows; or null. */
    private LogFileGeneration alteredFile(SignedRange range) {
        for (LogFileGeneration generation : generations.values()) {
            boolean differs = Boolean.FALSE.equals(generation.hasHead(range.getHeadLength(), range.getHeadHash()));
            boolean unknown =
                    generation.file().inode() == 0 && !generation.file().gone() && !generation.verified();
            if (differs && unknown && generation.frontier() >= range.getToOffset()) {
                return generation;
            }
        }
        return null;
    }

    public void save(StateWriter out) {
        out.flag(signed);
        save(out, waiting);
        save(out, incomplete);
    }

    private static void save(StateWriter out, List<Pending> ranges) {
        out.number(ranges.size());
        for (Pending pending : ranges) {
            SignedRangeState.write(out, pending.range);
            pending.since.save(out);
            out.number(pending.generation);
        }
    }

    public void restore(StateReader in, LogId id) {
        signed = in.flag();
        restore(in, id, waiting);
        restore(in, id, incomplete);
    }

    private static void restore(StateReader in, LogId id, List<Pending> ranges) {
        for (int count = in.count(); count > 0; count--) {
            Pending pending = new Pending(SignedRangeState.read(in, id), TwoClockTime.restore(in));
            pending.generation = in.number();
            ranges.add(pending);
        }
    }
}
