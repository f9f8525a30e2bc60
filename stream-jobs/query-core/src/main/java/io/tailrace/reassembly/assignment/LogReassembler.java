package io.tailrace.reassembly.assignment;

import io.tailrace.event.PostingKind;
import io.tailrace.event.SignedRange;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.LogFormats;
import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.ReassemblyOutput;
import io.tailrace.reassembly.census.FileCensus;
import io.tailrace.reassembly.census.FileView;
import io.tailrace.reassembly.content.ContentComparison;
import io.tailrace.reassembly.generation.LogFileGeneration;
import io.tailrace.reassembly.generation.UnassignedLines;
import io.tailrace.reassembly.ledger.LedgerWriter;
import io.tailrace.reassembly.ledger.PostingBuffer;
import io.tailrace.reassembly.signing.SignedRangeReport;
import io.tailrace.reassembly.signing.SignedRanges;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateStore;
import io.tailrace.reassembly.state.StateVersion;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.reassembly.state.TwoClockTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/**
 * Reassembles the lines of one log, even if the collector loses, repeats or delays some of them, and posts every byte
 * of each of its files (docs/LEDGER.md).
 *
 * <p>Lines are assigned to the generation whose {@linkplain LogFileGeneration#frontier frontier} they continue.
 * Others are held until their bytes, a census or a timeout shows whether they are duplicates, a new file, or lines
 * after a hole. The output depends only on the inputs, their order and the given times; a copy that is restored from
 * saved state continues in the same way.
 *
 * <p>Not thread-safe.
 */
public final class LogReassembler {

    /** Version of the layout that {@link #save} writes. The state is stored together with this number. */
    public static final int STATE_VERSION = StateVersion.CURRENT;
    /** The oldest layout that {@link #migrate} reads. */
    public static final int OLDEST_STATE_VERSION = StateVersion.OLDEST;

    private static final long ROOT = 0;
    private static final long TICK_MILLIS = 1000;
    /** If lines are older than the newest census by this much, more lines are expected. */
    private static final long LAG_MILLIS = 10_000;

    private static final long MICROS_PER_MILLI = 1000;

    private final LogId id;
    private final LogFormats formats;
    private final ReassemblyLimits limits;
    private final LedgerWriter poster;
    private final StateWriter.Ids ids = new StateWriter.Ids();
    private final TreeMap<Long, LogFileGeneration> generations = new TreeMap<>();
    private final List<UnassignedLines> held = new ArrayList<>();
    private final FileCensus census;
    private final CandidateGenerations candidates;
    private final SignedRangeReport report;
    private final SignedRanges signedRanges;
    private long lastGeneration;
    private boolean changed;
    private TwoClockTime now = TwoClockTime.NEVER;
    /** Time of the latest lines that the collector had read long before its newest census. */
    private TwoClockTime laggedAt = TwoClockTime.NEVER;

    private boolean censusTaken;

    /**
     * Creates the state of a new log.
     *
     * @param version of Tailrace, written into dead letters
     */
    public LogReassembler(
            LogId id, LogFormats formats, ReassemblyLimits limits, String version, ReassemblyOutput output) {
        this.id = id;
        this.formats = formats;
        this.limits = limits;
        this.poster = new LedgerWriter(id, version, output);
        this.census = new FileCensus(id, poster, generations);
        this.candidates = new CandidateGenerations(generations, census);
        this.report = new SignedRangeReport(output);
        this.signedRanges = new SignedRanges(generations, report);
    }

    /** Restores a saved log; creates a new one if nothing was saved. */
    public static LogReassembler restore(
            LogId id,
            LogFormats formats,
            ReassemblyLimits limits,
            String version,
            ReassemblyOutput output,
            StateStore store) {
        LogReassembler restored = new LogReassembler(id, formats, limits, version, output);
        restored.restore(store, STATE_VERSION);
        return restored;
    }

    /** Writes the state of this log, of which nothing is known yet, again in the layout of this version. */
    public void migrate(StateStore store, int fromVersion) {
        restore(store, fromVersion);
        save(store);
    }

    private void restore(StateStore store, int stateVersion) {
        byte[] root = store.get(ROOT);
        if (root != null) {
            restore(new StateReader(store, root, stateVersion));
        }
    }

    /**
     * Takes lines.
     *
     * @param now epoch milliseconds of the clock that timeouts use
     */
    public void block(LineBlock block, long now) {
        begin(now, block.backfill() ? 0 : block.readAt());
        if (block.bytes().length == 0) {
            return;
        }
        noteLag(block);
        if (!continueRun(block) && !continueFile(block)) {
            held.add(new UnassignedLines(block, 0, this.now, ids));
        }
        if (!held.isEmpty()) {
            place();
            limitHeld();
        }
        if (block.backfill()) {
            signedRanges.compareAgain(this.now);
        }
    }

    private boolean continueRun(LineBlock block) {
        for (UnassignedLines run : held) {
            if (run.continuedBy(block)) {
                run.add(block);
                return true;
            }
        }
        return false;
    }

    private void noteLag(LineBlock block) {
        if (!block.backfill() && block.readAt() > 0 && now.collector() - block.readAt() > LAG_MILLIS) {
            laggedAt = now;
        }
    }

    private boolean continueFile(LineBlock block) {
        LogFileGeneration next = block.backfill() ? null : candidates.continuedBy(block, block.offset());
        if (next == null || census.isRenamed(next, block.origin().path())) {
            return false;
        }
        next.read(block, 0, now);
        return true;
    }

    /** Takes a record of the census. */
    public void census(CensusRecord record, long now) {
        begin(now, record.at() / MICROS_PER_MILLI);
        censusTaken = true;
        if (census.take(record, this.now)) {
            place();
            endFiles();
        }
    }

    /** Takes a signed range whose signature is valid. */
    public void signedRange(SignedRange range, long now) {
        begin(now, 0);
        signedRanges.take(range, this.now);
    }

    /** Advances the time: holes become gaps after their timeout, and files that have ended are closed. */
    public void tick(long now) {
        pass(now, 0);
        for (UnassignedLines run : List.copyOf(held)) {
            if (isOverdue(run.since()) && held.contains(run)) {
                changed = true;
                decide(run);
                place();
            }
        }
        census.bindUnknown();
        endFiles();
        changed |= signedRanges.compareAgain(this.now);
        forgetFiles(now);
        flush(now);
    }

    /**
     * Returns the time of the next required {@link #tick} in epoch milliseconds, or {@link Long#MAX_VALUE} if none is
     * required before the next input.
     */
    public long nextTick(long now) {
        boolean busy = !held.isEmpty() || signedRanges.waiting();
        long next = Long.MAX_VALUE;
        for (LogFileGeneration generation : generations.values()) {
            busy |= generation.frontierMoved()
                    || (!generation.ended() && generation.file().isFinal());
            if (generation.ended()) {
                next = Math.min(next, generation.endedAt() + limits.retentionMillis());
            }
        }
        return busy ? (now / TICK_MILLIS + 1) * TICK_MILLIS : Math.max(next, now + TICK_MILLIS);
    }

    /** Writes the buffered postings. Must be called before {@link #save}. */
    public void flush(long now) {
        poster.at(now);
        for (LogFileGeneration generation : generations.values()) {
            changed |= generation.flush(now);
        }
    }

    /** Returns whether the state has changed since the last {@link #save}. */
    public boolean changed() {
        return changed;
    }

    private void begin(long job, long collector) {
        changed = true;
        pass(job, collector);
    }

    private void pass(long job, long collector) {
        now = now.max(new TwoClockTime(job, collector));
        poster.at(job);
        report.at(job);
    }

    /** Returns whether the timeout has expired. Without a census there is only one clock. */
    private boolean isOverdue(TwoClockTime since) {
        return censusTaken
                ? since.isPast(limits.gapTimeoutMillis(), now)
                : now.job() - since.job() >= limits.gapTimeoutMillis();
    }

    // ---- assignment of lines ----

    /** Places runs until no more can be placed, because each may make another one placeable. */
    private void place() {
        boolean placed = true;
        while (placed) {
            joinRuns();
            placed = false;
            for (UnassignedLines run : List.copyOf(held)) {
                placed |= placeRun(run);
            }
            held.removeIf(UnassignedLines::isEmpty);
        }
    }

    private void joinRuns() {
        for (int i = 0; i < held.size(); i++) {
            for (int j = 0; j < held.size(); j++) {
                if (i != j && held.get(i).join(held.get(j))) {
                    held.remove(j);
                    i = -1;
                    break;
                }
            }
        }
    }

    /** Returns whether a part of the run was placed. */
    private boolean placeRun(UnassignedLines run) {
        LineBlock first = run.first();
        if (first.backfill()) {
            return placeBackfill(run);
        }
        LogFileGeneration next = candidates.continuedBy(first, run.from());
        if (next != null && !census.isRenamed(next, first.origin().path())) {
            return absorb(next, run, Long.MAX_VALUE);
        }
        List<LogFileGeneration> alike = new ArrayList<>();
        for (LogFileGeneration generation : generations.descendingMap().values()) {
            ContentComparison comparison = CandidateGenerations.compare(generation, run);
            if (comparison == null) {
                continue;
            }
            if (comparison.distinctive() && absorb(generation, run, comparison.agreedTo())) {
                return true;
            }
            if (!census.contradicts(generation, run)) {
                alike.add(generation);
            }
        }
        boolean fillsGap = alike.stream().anyMatch(generation -> generation.misses(run.from()));
        if (next != null && !fillsGap) {
            // late lines of a renamed file under its old name, which are not a copy of the new file's lines
            return absorb(next, run, Long.MAX_VALUE);
        }
        if (run.from() == 0 && alike.isEmpty()) {
            startGeneration(run);
            return true;
        }
        return placeByCensus(run, alike);
    }

    private boolean placeByCensus(UnassignedLines run, List<LogFileGeneration> alike) {
        FileView view = census.seenAfter(run);
        if (view == null) {
            return false;
        }
        LogFileGeneration known = generations.get(view.generation());
        if (known != null) {
            return alike.contains(known) && absorb(known, run, Long.MAX_VALUE);
        }
        for (LogFileGeneration generation : alike) {
            if (census.mayHaveStartedIn(generation, view)) {
                census.bind(view, generation);
                return absorb(generation, run, Long.MAX_VALUE);
            }
        }
        if (run.from() > 0 || alike.stream().anyMatch(census::waitsForItsFile)) {
            return false;
        }
        startGeneration(run);
        return true;
    }

    private boolean placeBackfill(UnassignedLines run) {
        LogFileGeneration named = generations.get(run.first().generation());
        if (named == null) {
            conflict(run, "a backfill for the unknown generation " + run.first().generation());
            return true;
        }
        if (run.from() < named.frontier() && named.compare(run).differs()) {
            conflict(run, "a backfill that differs from what was read as generation " + named.number());
            return true;
        }
        return absorb(named, run, Long.MAX_VALUE);
    }

    /** Returns whether the generation took a part of the run. */
    private boolean absorb(LogFileGeneration generation, UnassignedLines run, long agreedTo) {
        long until = agreedTo >= generation.frontier() ? Long.MAX_VALUE : agreedTo;
        long before = run.from();
        run.drain((block, from) -> generation.absorb(block, from, until, now));
        if (run.from() == before && !run.isEmpty()) {
            return false;
        }
        run.sameAs(generation.number());
        return true;
    }

    private LogFileGeneration startGeneration(UnassignedLines run) {
        LogFileGeneration started = newGeneration();
        census.bindNew(started, run);
        if (run.from() > 0) {
            started.gap(run.from(), "head_lost");
        }
        absorb(started, run, Long.MAX_VALUE);
        endOldest();
        return started;
    }

    private LogFileGeneration newGeneration() {
        LogFileGeneration started = generation(++lastGeneration);
        generations.put(started.number(), started);
        return started;
    }

    private LogFileGeneration generation(long number) {
        return new LogFileGeneration(number, poster, formats, limits, ids, signedRanges::signed);
    }

    private void endOldest() {
        List<LogFileGeneration> live =
                generations.values().stream().filter(g -> !g.ended()).toList();
        if (live.size() > limits.liveGenerations()) {
            live.stream()
                    .min((a, b) ->
                            Long.compare(a.lastBlockAt().job(), b.lastBlockAt().job()))
                    .ifPresent(oldest -> oldest.end(now.job()));
        }
    }

    // ---- expired timeouts ----

    private void limitHeld() {
        long bytes = held.stream().mapToLong(UnassignedLines::bytes).sum();
        while (bytes > limits.reorderBytes()) {
            decide(held.get(0));
            place();
            bytes = held.stream().mapToLong(UnassignedLines::bytes).sum();
        }
    }

    /** Assigns the run by the most probable explanation, because its timeout has expired. */
    private void decide(UnassignedLines run) {
        if (run.first().backfill()) {
            drop(run);
            return;
        }
        FileView view = census.seenAfter(run);
        LogFileGeneration shown = view == null ? null : generations.get(view.generation());
        boolean unknownFile = view != null && shown == null;
        LogFileGeneration interrupted = unknownFile || CandidateGenerations.hasSameHead(shown, run)
                ? null
                : candidates.bestBeforeHole(run, view);
        if (interrupted != null) {
            resumeAfterHole(interrupted, run);
        } else if (generations.isEmpty() || unknownFile || (run.from() == 0 && !candidates.cameAgain(run))) {
            startGeneration(run);
        } else {
            decideBelowFrontier(
                    run, CandidateGenerations.hasSameHead(shown, run) ? shown : candidates.bestCandidate(run));
        }
        held.removeIf(UnassignedLines::isEmpty);
    }

    private void resumeAfterHole(LogFileGeneration generation, UnassignedLines run) {
        if (!generation.continuesAt(run.from())) {
            generation.gap(run.from(), gapKind(run.from() - generation.frontier()));
        }
        absorb(generation, run, Long.MAX_VALUE);
    }

    private String gapKind(long bytes) {
        return bytes >= limits.lineLimitBytes() ? "oversize" : "lost";
    }

    private void decideBelowFrontier(UnassignedLines run, LogFileGeneration same) {
        ContentComparison comparison = same == null ? null : CandidateGenerations.compare(same, run);
        if (comparison == null) {
            conflict(run, "lines that differ from what was read at their offsets, and the census contains no new file");
        } else if (same.misses(run.from())) {
            // lines in a gap cannot be framed while an earlier part of the gap is missing: the gap remains
            if (!absorb(same, run, Long.MAX_VALUE)) {
                drop(run);
            }
        } else if (run.sameAs() == same.number()) {
            takeAsDuplicate(same, run, run.to());
        } else if (comparison.agreedTo() > run.from()) {
            takeAsDuplicate(same, run, comparison.agreedTo());
        } else {
            conflict(run, "lines at offsets that were read before, for which no hash is stored");
        }
    }

    private static void takeAsDuplicate(LogFileGeneration generation, UnassignedLines run, long until) {
        run.drain((block, from) -> {
            int to = (int) Math.min(block.bytes().length, until - block.offset());
            generation.duplicates(block, from, Math.max(from, to));
            return Math.max(from, to);
        });
        run.sameAs(generation.number());
    }

    private void drop(UnassignedLines run) {
        run.release();
        held.remove(run);
    }

    private void conflict(UnassignedLines run, String message) {
        run.drain((block, from) -> {
            byte[] bytes = Arrays.copyOfRange(block.bytes(), from, block.bytes().length);
            poster.origin(block.origin().cluster(), block.origin().path());
            String code = DeadLetterCode.OFFSET_CONFLICT.name();
            poster.deadLetter(0, block.offset() + from, bytes, code, message);
            PostingBuffer apart = new PostingBuffer();
            apart.add(PostingKind.DEAD_LETTER, code, block.offset() + from, block.end(), 1);
            apart.flush(poster, 0);
            return block.bytes().length;
        });
    }

    // ---- ends of files ----

    private void endFiles() {
        for (LogFileGeneration generation : generations.values()) {
            if (!generation.ended()) {
                endFile(generation);
            }
        }
        if (!isOverdue(laggedAt)) {
            return;
        }
        for (FileView lost : census.neverRead(this::isOverdue)) {
            changed = true;
            LogFileGeneration generation = newGeneration();
            census.bind(lost, generation);
            generation.foundBy(lost.last());
            recordLostTail(generation);
        }
    }

    private void endFile(LogFileGeneration generation) {
        if (census.showsLongerEnd(generation)) {
            changed = true;
            generation.extendLastLine();
        }
        if (!census.isFinal(generation)) {
            generation.file().mayGrow();
            return;
        }
        changed = true;
        generation.file().isFinalAt(now);
        if (generation.frontier() + 1 == generation.file().size() && generation.endMayBeLonger()) {
            generation.extendLastLine();
        }
        boolean complete = !generation.file().gone()
                && generation.frontier() >= generation.file().size();
        TwoClockTime idleSince =
                generation.file().finalSince().max(generation.lastBlockAt()).max(laggedAt);
        if (complete || isOverdue(idleSince)) {
            recordLostTail(generation);
        }
    }

    private void recordLostTail(LogFileGeneration generation) {
        if (generation.frontier() < generation.file().size()) {
            generation.gap(generation.file().size(), "tail_lost");
        }
        generation.end(now.job());
    }

    private void forgetFiles(long now) {
        List<LogFileGeneration> old = generations.values().stream()
                .filter(g -> g.ended() && now - g.endedAt() >= limits.retentionMillis() && !census.lists(g))
                .toList();
        for (LogFileGeneration generation : old) {
            changed = true;
            generation.flush(now);
            generation.release();
            generations.remove(generation.number());
        }
    }

    // ---- state ----

    /** Stores what has changed since the last save. Postings must have been flushed. */
    public void save(StateStore store) {
        StateWriter root = new StateWriter(store, ids);
        root.number(lastGeneration);
        now.save(root);
        laggedAt.save(root);
        root.flag(censusTaken);
        root.number(generations.size());
        for (LogFileGeneration generation : generations.values()) {
            root.number(generation.number());
            root.number(generation.save(root));
        }
        census.save(root);
        root.number(held.size());
        held.forEach(run -> run.save(root));
        root.number(ids.next());
        signedRanges.save(root);
        root.finish(ROOT);
        changed = false;
    }

    private void restore(StateReader in) {
        lastGeneration = in.number();
        if (in.version() >= StateVersion.WITH_TWO_CLOCKS) {
            now = TwoClockTime.restore(in);
            laggedAt = TwoClockTime.restore(in);
            censusTaken = in.flag();
        }
        for (int count = in.count(); count > 0; count--) {
            LogFileGeneration generation = generation(in.number());
            long storedAs = in.number();
            generation.restore(in.open(storedAs), storedAs);
            generations.put(generation.number(), generation);
        }
        census.restore(in);
        censusTaken |= census.hasFiles();
        for (int count = in.count(); count > 0; count--) {
            held.add(UnassignedLines.restore(in, id, ids));
        }
        ids.restore(in.number());
        if (in.version() >= StateVersion.WITH_SIGNED_RANGES) {
            signedRanges.restore(in, id);
        }
    }
}
