package io.tailrace.reassembly.census;

import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.generation.LogFileGeneration;
import io.tailrace.reassembly.generation.UnassignedLines;
import io.tailrace.reassembly.ledger.LedgerWriter;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateVersion;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.reassembly.state.TwoClockTime;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The files of one log according to the census, and the generation of each of them. */
public final class FileCensus {

    /** Period without writes after which a renamed file has ended, if a new file exists under the log's path. */
    private static final long SETTLED_MICROS = 60_000_000L;

    private static final int ROUNDS_UNTIL_GONE = 2;
    private static final int DEPARTED = 64;
    /** Records of two rounds may be interleaved, so a file is gone only if it was also not listed for this long. */
    private static final long GONE_MICROS = 15_000_000L;

    private static final long MICROS_PER_MILLI = 1000;

    private final LogId id;
    private final LedgerWriter poster;
    private final SortedMap<Long, LogFileGeneration> generations;
    private final TreeMap<Long, FileView> views = new TreeMap<>();
    /** Files that two rounds did not list, and that may return if a round was lost. */
    private final Map<Long, FileView> departed = new LinkedHashMap<>();

    private final PathInodeHistory owners = new PathInodeHistory();
    private long round = 1;

    public FileCensus(LogId id, LedgerWriter poster, SortedMap<Long, LogFileGeneration> generations) {
        this.id = id;
        this.poster = poster;
        this.generations = generations;
    }

    /** Takes a record and posts it; returns whether it contains something new. */
    public boolean take(CensusRecord record, TwoClockTime now) {
        if (record.path().endsWith(".gz")) {
            return false;
        }
        FileView view = views.get(record.inode());
        if (view != null && record.at() <= view.last().at()) {
            postLate(record, view);
            return false;
        }
        if (view != null && view.seenSince(round)) {
            endRound(record.at());
            view = views.get(record.inode());
        }
        if (view != null && isOtherFile(view, record)) {
            recordLoss(view);
            view = null;
        }
        if (view == null) {
            view = returned(record, now);
            views.put(record.inode(), view);
        }
        view.see(record);
        view.seenIn(round);
        owners.see(record.path(), record.inode(), record.at());
        unbindIfWrong(view);
        bind(view);
        post(record, view);
        return true;
    }

    /** Returns the view of a file that was missing for a while, or a new one. */
    private FileView returned(CensusRecord record, TwoClockTime now) {
        FileView before = departed.remove(record.inode());
        return before == null || isOtherFile(before, record) ? new FileView(record, now) : before;
    }

    /** Posts a record that arrived after a newer one, because it still proves the state of its minute. */
    private void postLate(CensusRecord record, FileView view) {
        if (record.at() < view.last().at()) {
            owners.see(record.path(), record.inode(), record.at());
            post(record, view);
        }
    }

    private void post(CensusRecord record, FileView view) {
        if (!view.takesPosting(record)) {
            return;
        }
        poster.origin(record.cluster(), record.path());
        LedgerEntry row = poster.row(view.generation(), PostingKind.CENSUS, "", 0, 0);
        row.setSize(record.size());
        row.setInode(record.inode());
        row.setAt(Instant.EPOCH.plus(record.at(), ChronoUnit.MICROS));
        poster.post(row);
    }

    private void endRound(long at) {
        for (FileView view : List.copyOf(views.values())) {
            view.endOfRound(round);
            if (view.missed() >= ROUNDS_UNTIL_GONE && at - view.last().at() >= GONE_MICROS) {
                recordLoss(view);
            }
        }
        round++;
    }

    /** Unbinds a file that is shorter than what was read of it, or begins differently: the assignment was wrong. */
    private void unbindIfWrong(FileView view) {
        LogFileGeneration bound = generations.get(view.generation());
        if (bound != null && !isPossible(bound, view.last())) {
            view.generation(0);
            if (bound.file().inode() == view.inode()) {
                bound.file().unbind();
            }
        }
    }

    private static boolean isPossible(LogFileGeneration generation, CensusRecord record) {
        return isLongEnough(generation, record)
                && !Boolean.FALSE.equals(generation.hasHead(record.headLength(), record.headHash()));
    }

    private void recordLoss(FileView view) {
        views.remove(view.inode());
        departed.put(view.inode(), view);
        if (departed.size() > DEPARTED) {
            departed.remove(departed.keySet().iterator().next());
        }
        LogFileGeneration generation = generations.get(view.generation());
        if (generation != null && generation.file().inode() == view.inode()) {
            generation.file().recordLostFile();
        }
    }

    /** Returns whether the file was truncated, or its inode was reused. */
    private boolean isOtherFile(FileView view, CensusRecord record) {
        CensusRecord last = view.last();
        boolean otherHead =
                record.headLength() == last.headLength() && !record.headHash().equals(last.headHash());
        return record.size() < last.size() || otherHead || isOverwritten(view, record);
    }

    /** Returns whether the content of the file differs from what was read of it. */
    private boolean isOverwritten(FileView view, CensusRecord record) {
        LogFileGeneration generation = generations.get(view.generation());
        CensusRecord last = view.last();
        return generation != null
                && generation.isDistinctive(last.headLength())
                && Boolean.TRUE.equals(generation.hasHead(last.headLength(), last.headHash()))
                && Boolean.FALSE.equals(generation.hasHead(record.headLength(), record.headHash()));
    }

    // ---- generations of files ----

    private void bind(FileView view) {
        LogFileGeneration bound = generations.get(view.generation());
        if (bound == null) {
            bound = find(view.last());
        }
        if (bound != null) {
            bind(view, bound);
        }
    }

    /** Tries again to bind the files without a generation, because more of a head may have been read by now. */
    public void bindUnknown() {
        for (FileView view : views.values()) {
            if (isUnknown(view)) {
                bind(view);
            }
        }
    }

    /** Assigns a generation to a file. A copy of an existing file gets the same number, but does not own it. */
    public void bind(FileView view, LogFileGeneration generation) {
        view.generation(generation.number());
        if (generation.file().inode() == 0) {
            generation.file().bind(view.inode());
        }
        if (generation.file().inode() == view.inode()) {
            generation.file().grewTo(view.last().size());
        }
    }

    private LogFileGeneration find(CensusRecord record) {
        LogFileGeneration best = null;
        for (LogFileGeneration generation : generations.values()) {
            boolean better = best == null || generation.file().inode() == 0;
            if (better && matches(generation, record)) {
                best = generation;
            }
        }
        return best;
    }

    private boolean matches(LogFileGeneration generation, CensusRecord record) {
        boolean free = generation.file().inode() == 0;
        if (!isLongEnough(generation, record)) {
            return false;
        }
        Boolean head = generation.hasHead(record.headLength(), record.headHash());
        if (head == null) {
            return free && record.headLength() > 0 && wasUnderFirstPath(generation, record.inode());
        }
        boolean placed = free && wasUnderFirstPath(generation, record.inode());
        return head && (placed || generation.isDistinctive(record.headLength()));
    }

    /**
     * Returns whether the file was under the path under which the first lines were read, if there is no head to
     * compare.
     */
    private boolean wasUnderFirstPath(LogFileGeneration generation, long inode) {
        for (long owner : ownersAtStart(generation)) {
            if (owner == inode || isPossibleFile(generation, owner)) {
                return owner == inode;
            }
        }
        return false;
    }

    private List<Long> ownersAtStart(LogFileGeneration generation) {
        return owners.around(generation.firstPath(), generation.firstReadAt() * MICROS_PER_MILLI);
    }

    private boolean isPossibleFile(LogFileGeneration generation, long inode) {
        FileView view = views.get(inode);
        return view != null && isUnknown(view) && isPossible(generation, view.last());
    }

    private static boolean isLongEnough(LogFileGeneration generation, CensusRecord record) {
        return record.size() >= generation.frontier() || record.at() <= generation.lastReadAt() * MICROS_PER_MILLI;
    }

    /** Binds a generation that begins with the run to the file that the census found under its path. */
    public void bindNew(LogFileGeneration generation, UnassignedLines run) {
        FileView view = seenAfter(run);
        if (view != null && isUnknown(view)) {
            bind(view, generation);
        }
    }

    /**
     * Returns whether the generation has no file yet, this file was under its path when it was read first, and the
     * file can contain what was read.
     */
    public boolean mayHaveStartedIn(LogFileGeneration generation, FileView file) {
        return generation.file().inode() == 0
                && isPossibleFile(generation, file.inode())
                && ownersAtStart(generation).contains(file.inode());
    }

    /** Returns whether the generation has no file yet, and no census has found its path since it was read first. */
    public boolean waitsForItsFile(LogFileGeneration generation) {
        return generation.file().inode() == 0
                && !generation.file().gone()
                && ownersAtStart(generation).isEmpty();
    }

    /** Returns whether the census has found the generation's file under another path. */
    public boolean isRenamed(LogFileGeneration generation, String path) {
        FileView view = generation.file().inode() == 0
                ? null
                : views.get(generation.file().inode());
        return view != null && !view.last().path().equals(path);
    }

    /** Returns whether, at the last census, the generation's file had been renamed and was too short for the block. */
    public boolean wasCutBefore(LogFileGeneration generation, LineBlock block) {
        return isRenamed(generation, id.log())
                && views.get(generation.file().inode()).last().size() < block.end();
    }

    /**
     * Returns whether the census found the generation's file under that path or, without a census, its lines came
     * from that path.
     */
    public boolean isUnder(LogFileGeneration generation, String path) {
        FileView view = generation.file().inode() == 0
                ? null
                : views.get(generation.file().inode());
        return path.equals(view == null ? generation.path() : view.last().path());
    }

    /** Returns whether the file has no known generation. */
    boolean isUnknown(FileView view) {
        return !generations.containsKey(view.generation());
    }

    /**
     * Returns whether the run's lines may belong to the file: it was long enough at the time of the census, and
     * begins like them.
     */
    private static boolean mayHold(FileView view, UnassignedLines run) {
        CensusRecord record = view.last();
        return record.size() >= run.endReadBy(record.at()) && !run.contradicts(record.headLength(), record.headHash());
    }

    /**
     * Returns whether the census excludes that the run belongs to the generation's file: the file was too short when
     * the lines were read, or was not under the run's path.
     */
    public boolean contradicts(LogFileGeneration generation, UnassignedLines run) {
        FileView view = generation.file().inode() == 0
                ? null
                : views.get(generation.file().inode());
        return view != null && (!mayHold(view, run) || wasElsewhere(view, run));
    }

    private boolean wasElsewhere(FileView view, UnassignedLines run) {
        List<Long> named = owners.around(run.first().origin().path(), run.readAt() * MICROS_PER_MILLI);
        return !named.isEmpty() && !named.contains(view.inode());
    }

    /**
     * Returns the file to which the run belongs according to a census after its lines were read: the file that was
     * under the run's path or, if it was renamed in between, the only one that begins with the run's bytes. Returns
     * null if the census is not decisive yet.
     *
     * <p>Around a rename both the old file and the new one may match, and their banners may be equal. Then a file of
     * which nothing was read is the better match: if the lines are a repetition of the old file's, the new file's are
     * equal to them.
     */
    public FileView seenAfter(UnassignedLines run) {
        long readAt = run.readAt() * MICROS_PER_MILLI;
        List<Long> named = owners.around(run.first().origin().path(), readAt);
        if (named.isEmpty()) {
            return null;
        }
        List<FileView> holding = named.stream()
                .map(views::get)
                .filter(view -> view != null && mayHold(view, run))
                .toList();
        Optional<FileView> unread = holding.stream()
                .filter(view -> run.from() == 0 && isUnread(view))
                .findFirst();
        if (!holding.isEmpty()) {
            return unread.orElse(holding.get(0));
        }
        List<FileView> alike = views.values().stream()
                .filter(view -> view.last().at() >= readAt && mayHold(view, run))
                .filter(view ->
                        run.hasSameHead(view.last().headLength(), view.last().headHash()))
                .toList();
        return alike.size() == 1 ? alike.get(0) : null;
    }

    /**
     * Returns whether nothing was read of the file: it has no generation, and no generation without a file may have
     * begun in it.
     */
    private boolean isUnread(FileView view) {
        return isUnknown(view)
                && generations.values().stream().noneMatch(generation -> mayHaveStartedIn(generation, view));
    }

    /** Returns whether a census has found the path of the run after the run was read. */
    public boolean checkedAfter(UnassignedLines run) {
        return owners.seenSince(run.first().origin().path(), run.readAt() * MICROS_PER_MILLI);
    }

    /** Returns whether a census after the block was read found the generation's file too short to contain the block. */
    public boolean isTooShort(LogFileGeneration generation, LineBlock block) {
        FileView view = generation.file().inode() == 0
                ? null
                : views.get(generation.file().inode());
        return view != null
                && block.readAt() > 0
                && view.last().at() > block.readAt() * MICROS_PER_MILLI
                && view.last().size() < block.end();
    }

    // ---- ends of files ----

    /** Returns whether the file will not grow any more. The file under the log's own path is never final. */
    public boolean isFinal(LogFileGeneration generation) {
        if (generation.file().gone()) {
            return true;
        }
        FileView view = generation.file().inode() == 0
                ? null
                : views.get(generation.file().inode());
        return view != null && isSettled(view);
    }

    private boolean isSettled(FileView view) {
        return !view.last().path().equals(id.log())
                && view.unchangedMicros() >= SETTLED_MICROS
                && views.values().stream().anyMatch(other -> other.last().path().equals(id.log()));
    }

    public boolean lists(LogFileGeneration generation) {
        return views.values().stream().anyMatch(view -> view.generation() == generation.number());
    }

    /**
     * Returns whether the file's last line end has one byte more than was received. If the lines of a file end with a
     * carriage return and a line feed, one more byte that remains is the line feed, because another line would be
     * longer.
     */
    public boolean showsLongerEnd(LogFileGeneration generation) {
        FileView view = generation.file().inode() == 0
                ? null
                : views.get(generation.file().inode());
        return view != null
                && view.last().size() == generation.frontier() + 1
                && view.unchangedMicros() > 0
                && view.last().at() > generation.lastReadAt() * MICROS_PER_MILLI
                && generation.lineEndsAreLong();
    }

    /** Returns the files that have ended and of which no line has arrived. */
    public List<FileView> neverRead(Predicate<TwoClockTime> overdue) {
        List<FileView> lost = new ArrayList<>();
        for (FileView view : views.values()) {
            boolean waited = overdue.test(view.firstReceivedAt());
            if (view.generation() == 0 && view.last().size() > 0 && waited && isSettled(view) && isUnassigned(view)) {
                lost.add(view);
            }
        }
        return lost;
    }

    /** Returns whether no generation without a file could be this file. */
    private boolean isUnassigned(FileView view) {
        CensusRecord record = view.last();
        return generations.values().stream()
                .filter(generation ->
                        generation.file().inode() == 0 && !generation.file().gone())
                .allMatch(
                        generation -> Boolean.FALSE.equals(generation.hasHead(record.headLength(), record.headHash())));
    }

    public boolean hasFiles() {
        return !views.isEmpty();
    }

    public void save(StateWriter out) {
        out.number(round);
        owners.save(out);
        out.number(views.size());
        views.values().forEach(view -> view.save(out));
        out.number(departed.size());
        departed.values().forEach(view -> view.save(out));
    }

    public void restore(StateReader in) {
        round = in.number();
        owners.restore(in);
        for (int count = in.count(); count > 0; count--) {
            FileView view = FileView.restore(in, id);
            views.put(view.inode(), view);
        }
        for (int count = in.version() < StateVersion.WITH_TWO_CLOCKS ? 0 : in.count(); count > 0; count--) {
            FileView view = FileView.restore(in, id);
            departed.put(view.inode(), view);
        }
    }
}
