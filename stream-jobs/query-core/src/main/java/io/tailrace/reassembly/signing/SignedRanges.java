package io.tailrace.reassembly.signing;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.content.RangeHashes.Comparison;
import io.tailrace.reassembly.generation.LogFileGeneration;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.reassembly.state.TwoClockTime;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * Compares the signed ranges of a log with its bytes, whichever arrives first, and reports each result. A range with
 * a gap is reported, and again when the gap is filled. A record with several ranges has a result for each run of ranges
 * that follow each other and have the same one.
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

    /** If several files may be the signed one and none is equal, the first of these results counts. */
    private static final List<Comparison> PRIORITY = List.of(
            Comparison.DIFFERENT,
            Comparison.AMBIGUOUS,
            Comparison.GAP,
            Comparison.PASSED,
            Comparison.UNKNOWN,
            Comparison.WAITING);

    /** A record, or those of its ranges that have no result yet. */
    private static final class Pending {
        private SignedRange record;
        private List<SignedPart> parts;
        private final TwoClockTime since;
        /** The file of an incomplete range; 0 if it is not known. */
        private long generation;

        private Pending(SignedRange record, TwoClockTime since) {
            this.record = record;
            this.parts = SignedPart.of(record);
            this.since = since;
        }

        private void dropFirst(int count) {
            if (count > 0 && count < parts.size()) {
                parts = List.copyOf(parts.subList(count, parts.size()));
                record = SignedPart.record(record, parts);
            }
        }
    }

    /** The result of a range. {@code generation} is the number of the file. */
    private record Result(SignedPart part, Comparison comparison, long generation) {

        /** A gap is reported range by range, because each is completed by itself. */
        private boolean continues(Result before) {
            return comparison == before.comparison && generation == before.generation && comparison != Comparison.GAP;
        }
    }

    private final SortedMap<Long, LogFileGeneration> generations;
    private final List<Pending> waiting = new ArrayList<>();
    private int waitingRanges;
    private final List<Pending> incomplete = new ArrayList<>();
    /** The files with a head, by the head; for a second at most, while no file is added. */
    private final Map<String, List<LogFileGeneration>> byHead = new HashMap<>();

    private final SignedRangeReport report;
    private boolean signed;
    private boolean reported;
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
            waitingRanges += pending.parts.size();
            dropExcess();
        }
    }

    private void dropExcess() {
        while (waitingRanges > MAX_WAITING) {
            Pending oldest = waiting.remove(0);
            waitingRanges -= oldest.parts.size();
            report.unverified(oldest.record, oldest.parts, "too many ranges wait for their bytes");
        }
    }

    /** Compares what waits with the bytes that have arrived meanwhile; returns whether a result was reported. */
    public boolean compareAgain(TwoClockTime now) {
        headsOf = 0;
        forgetHeads(now);
        reported = false;
        waiting.removeIf(pending -> settle(pending, isOverdue(pending, now)));
        incomplete.removeIf(this::completed);
        waitingRanges = rangesOf(waiting);
        return reported;
    }

    private static int rangesOf(List<Pending> records) {
        return records.stream().mapToInt(pending -> pending.parts.size()).sum();
    }

    /** Returns whether the gap of a range was filled: then the result was reported. */
    private boolean completed(Pending pending) {
        LogFileGeneration generation = generations.get(pending.generation);
        SignedPart part = pending.parts.get(0);
        Comparison result = generation == null ? Comparison.UNKNOWN : compare(generation, part);
        if (result == Comparison.EQUAL) {
            settle(generation, part);
            report.verified(pending.record, pending.parts, pending.generation);
        } else if (result == Comparison.DIFFERENT) {
            String reason = "the bytes that filled a gap differ";
            report.mismatch(pending.record, pending.parts, pending.generation, reason);
        }
        boolean complete = result == Comparison.EQUAL || result == Comparison.DIFFERENT;
        reported |= complete;
        return complete;
    }

    private void forgetHeads(TwoClockTime now) {
        long newest = generations.isEmpty() ? 0 : generations.lastKey();
        if (newest != headsOf || now.job() - headsSince >= HEADS_MILLIS) {
            byHead.clear();
            headsOf = newest;
            headsSince = now.job();
        }
    }

    /** No later record covers a closed range: if its bytes were passed, they are unknown. */
    private static Comparison compare(LogFileGeneration generation, SignedPart part) {
        Comparison result = generation.compare(part.from(), part.to(), part.closed(), part.hash());
        return result == Comparison.PASSED && part.closed() ? Comparison.UNKNOWN : result;
    }

    private static void settle(LogFileGeneration generation, SignedPart part) {
        generation.settle(part.from(), part.to(), part.closed());
    }

    /**
     * Reports the results of a record when all of its ranges have one. The first ranges are reported earlier if one of
     * them is not equal.
     *
     * @param overdue whether no more bytes are awaited, and other bytes in a file that may be another one count as well
     * @return whether no range is left
     */
    private boolean settle(Pending pending, boolean overdue) {
        List<LogFileGeneration> candidates = candidates(pending.record);
        List<Result> results = new ArrayList<>();
        boolean differs = false;
        for (SignedPart part : pending.parts) {
            Result result = result(pending, part, candidates, overdue);
            if (result.comparison == Comparison.WAITING && !overdue) {
                break;
            }
            results.add(result);
            differs |= result.comparison != Comparison.EQUAL;
        }
        boolean whole = results.size() == pending.parts.size();
        if (whole || differs) {
            report(pending, results);
            pending.dropFirst(results.size());
        }
        return whole;
    }

    /** Returns {@code WAITING} while the bytes may still arrive in any file, and if they arrived in none in time. */
    private static Result result(
            Pending pending, SignedPart part, List<LogFileGeneration> candidates, boolean overdue) {
        Map<Comparison, Long> files = new EnumMap<>(Comparison.class);
        for (LogFileGeneration generation : candidates) {
            Comparison result = compare(generation, part);
            if (result == Comparison.EQUAL) {
                return new Result(part, result, generation.number());
            }
            boolean unsure = result == Comparison.DIFFERENT && !overdue && !hasHead(generation, pending.record);
            files.putIfAbsent(unsure ? Comparison.WAITING : result, generation.number());
        }
        if (files.isEmpty() || files.containsKey(Comparison.WAITING) && !overdue) {
            return new Result(part, Comparison.WAITING, 0);
        }
        Comparison found =
                PRIORITY.stream().filter(files::containsKey).findFirst().orElseThrow();
        return new Result(part, found, files.get(found));
    }

    /** Reports each run of ranges with the same result. */
    private void report(Pending pending, List<Result> results) {
        int from = 0;
        for (int to = 1; to <= results.size(); to++) {
            if (to == results.size() || !results.get(to).continues(results.get(to - 1))) {
                reportRun(pending, results.subList(from, to));
                from = to;
            }
        }
    }

    private void reportRun(Pending pending, List<Result> run) {
        List<SignedPart> parts = run.stream().map(Result::part).toList();
        long generation = run.get(0).generation;
        SignedRange record = pending.record;
        reported = true;
        switch (run.get(0).comparison) {
            case EQUAL -> {
                parts.forEach(part -> settle(generations.get(generation), part));
                report.verified(record, parts, generation);
            }
            case DIFFERENT -> report.mismatch(record, parts, generation, "other bytes arrived");
            case AMBIGUOUS -> report.incomplete(
                    record, parts, generation, "one byte of the range is inferred, and may be lost");
            case GAP -> {
                report.incomplete(record, parts, generation, "a part of the range is a gap");
                awaitBackfill(new Pending(SignedPart.record(record, parts), pending.since), generation);
            }
            case PASSED -> report.superseded(record, parts, generation);
            case WAITING -> reportMissing(record, parts);
            default -> report.unverified(record, parts, "the hashes of the bytes were not kept");
        }
    }

    private void awaitBackfill(Pending pending, long generation) {
        pending.generation = generation;
        incomplete.add(pending);
        if (incomplete.size() > MAX_INCOMPLETE) {
            incomplete.remove(0);
        }
    }

    /** The files that begin as the signed one; those with its inode first. */
    private List<LogFileGeneration> candidates(SignedRange range) {
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

    /** Reports ranges whose bytes did not arrive; those that arrived in an altered file are a mismatch. */
    private void reportMissing(SignedRange record, List<SignedPart> parts) {
        LogFileGeneration altered = alteredFile(record, parts.get(0).to());
        int arrived = 0;
        while (altered != null && arrived < parts.size() && parts.get(arrived).to() <= altered.frontier()) {
            arrived++;
        }
        if (arrived > 0) {
            String reason = "no file that arrived begins as the signed one";
            report.mismatch(record, parts.subList(0, arrived), altered.number(), reason);
        }
        if (arrived < parts.size()) {
            report.unverified(record, parts.subList(arrived, parts.size()), "the bytes did not arrive in time");
        }
    }

    /**
     * Returns a file in the place of the signed one that was read up to this offset, begins differently, and that no
     * census knows; or null.
     */
    private LogFileGeneration alteredFile(SignedRange range, long to) {
        for (LogFileGeneration generation : generations.values()) {
            boolean differs = Boolean.FALSE.equals(generation.hasHead(range.getHeadLength(), range.getHeadHash()));
            boolean unknown =
                    generation.file().inode() == 0 && !generation.file().gone() && !generation.verified();
            if (differs && unknown && generation.frontier() >= to) {
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
            SignedRangeState.write(out, pending.record);
            pending.since.save(out);
            out.number(pending.generation);
        }
    }

    public void restore(StateReader in, LogId id) {
        signed = in.flag();
        restore(in, id, waiting);
        restore(in, id, incomplete);
        waitingRanges = rangesOf(waiting);
    }

    private static void restore(StateReader in, LogId id, List<Pending> ranges) {
        for (int count = in.count(); count > 0; count--) {
            Pending pending = new Pending(SignedRangeState.read(in, id), TwoClockTime.restore(in));
            pending.generation = in.number();
            ranges.add(pending);
        }
    }
}
