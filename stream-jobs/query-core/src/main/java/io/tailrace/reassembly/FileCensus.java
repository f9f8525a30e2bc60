package io.tailrace.reassembly;

import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The files of one log as the census shows them, and which generation each of them is. */
final class FileCensus {

    /** A renamed file to which nothing was written for so long, beside a new one under the log's path, has ended. */
    private static final long SETTLED_MICROS = 60_000_000L;

    private static final int ROUNDS_UNTIL_GONE = 2;
    private static final long MICROS_PER_MILLI = 1000;

    private final LogId id;
    private final Poster poster;
    private final SortedMap<Long, Generation> generations;
    private final TreeMap<Long, FileView> views = new TreeMap<>();
    private long round = 1;

    FileCensus(LogId id, Poster poster, SortedMap<Long, Generation> generations) {
        this.id = id;
        this.poster = poster;
        this.generations = generations;
    }

    /** Takes a record and posts it; whether it says something new. */
    boolean take(CensusRecord record, long now) {
        if (record.path().endsWith(".gz")) {
            return false;
        }
        FileView view = views.get(record.inode());
        if (view != null && record.at() <= view.last().at()) {
            postLate(record, view);
            return false;
        }
        if (view != null && view.seenSince(round)) {
            endRound();
            view = views.get(record.inode());
        }
        if (view != null && isOtherFile(view, record)) {
            lose(view);
            view = null;
        }
        if (view == null) {
            view = new FileView(record, now);
            views.put(record.inode(), view);
        }
        view.see(record, now);
        view.seenIn(round);
        bind(view);
        post(record, view);
        return true;
    }

    /** A record that came after a newer one still proves its minute. */
    private void postLate(CensusRecord record, FileView view) {
        if (record.at() < view.last().at()) {
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

    private void endRound() {
        for (FileView view : List.copyOf(views.values())) {
            view.endOfRound(round);
            if (view.missed() >= ROUNDS_UNTIL_GONE) {
                lose(view);
            }
        }
        round++;
    }

    private void lose(FileView view) {
        views.remove(view.inode());
        Generation generation = generations.get(view.generation());
        if (generation != null && generation.inode() == view.inode()) {
            generation.loseFile();
        }
    }

    /** The file was cut off, or its inode was given to another one. */
    private boolean isOtherFile(FileView view, CensusRecord record) {
        CensusRecord last = view.last();
        boolean otherHead = record.headLength() == last.headLength() && !record.headHash().equals(last.headHash());
        Generation generation = generations.get(view.generation());
        boolean otherContent = generation != null
                && Boolean.FALSE.equals(generation.hasHead(record.headLength(), record.headHash()));
        return record.size() < last.size() || otherHead || otherContent;
    }

    // ---- which generation a file is ----

    private void bind(FileView view) {
        Generation bound = generations.get(view.generation());
        if (bound == null) {
            bound = find(view.last());
        }
        if (bound != null) {
            bind(view, bound);
        }
    }

    /** The file is that generation. A copy of a file that is there too gets the same number, and does not own it. */
    void bind(FileView view, Generation generation) {
        view.generation(generation.number());
        if (generation.inode() == 0) {
            generation.bind(view.inode());
        }
        if (generation.inode() == view.inode()) {
            generation.grewTo(view.last().size());
        }
    }

    private Generation find(CensusRecord record) {
        Generation best = null;
        for (Generation generation : generations.values()) {
            boolean better = best == null || generation.inode() == 0;
            if (better && mayBe(generation, record)) {
                best = generation;
            }
        }
        return best;
    }

    private boolean mayBe(Generation generation, CensusRecord record) {
        boolean samePath = generation.path().equals(record.path());
        boolean free = generation.inode() == 0;
        boolean longEnough = record.size() >= generation.frontier()
                || record.at() < generation.lastReadAt() * MICROS_PER_MILLI;
        if (!longEnough) {
            return false;
        }
        Boolean head = generation.hasHead(record.headLength(), record.headHash());
        if (head == null) {
            return free && samePath && generation.lacksHead() && record.headLength() > 0;
        }
        return head && (generation.isTelling(record.headLength()) || (free && samePath));
    }

    /** A generation begins with the run: binds it to the file that the census shows under its path. */
    void bindNew(Generation generation, HeldRun run) {
        FileView view = seenAfter(run);
        boolean unknown = view != null && !generations.containsKey(view.generation());
        if (unknown && view.last().size() >= run.first().end()) {
            bind(view, generation);
        }
    }

    /** The file that the census found under the run's path after the run was read; null when it did not look yet. */
    FileView seenAfter(HeldRun run) {
        LineBlock first = run.first();
        FileView newest = null;
        for (FileView view : views.values()) {
            boolean after = first.readAt() > 0
                    ? view.last().at() >= first.readAt() * MICROS_PER_MILLI
                    : view.receivedAt() > run.since();
            boolean newer = newest == null || view.last().at() > newest.last().at();
            if (after && newer && view.last().path().equals(first.path())) {
                newest = view;
            }
        }
        return newest;
    }

    /** The census has looked at the generation's file after the block was read, and the block lies beyond its end. */
    boolean isTooShort(Generation generation, LineBlock block) {
        FileView view = generation.inode() == 0 ? null : views.get(generation.inode());
        return view != null
                && block.readAt() > 0
                && view.last().at() >= block.readAt() * MICROS_PER_MILLI
                && view.last().size() < block.end();
    }

    // ---- which files have ended ----

    /** Nothing will be written to the file any more. The file under the log's own path is never final. */
    boolean isFinal(Generation generation) {
        if (generation.gone()) {
            return true;
        }
        FileView view = generation.inode() == 0 ? null : views.get(generation.inode());
        return view != null && isSettled(view);
    }

    private boolean isSettled(FileView view) {
        return !view.last().path().equals(id.log())
                && view.unchangedMicros() >= SETTLED_MICROS
                && views.values().stream().anyMatch(other -> other.last().path().equals(id.log()));
    }

    boolean lists(Generation generation) {
        return views.values().stream().anyMatch(view -> view.generation() == generation.number());
    }

    /** Files that have ended and of which no line has come. */
    List<FileView> neverRead(long now, long timeoutMillis) {
        List<FileView> lost = new ArrayList<>();
        for (FileView view : views.values()) {
            boolean waited = now - view.firstReceivedAt() >= timeoutMillis;
            if (view.generation() == 0 && view.last().size() > 0 && waited && isSettled(view) && isNobody(view)) {
                lost.add(view);
            }
        }
        return lost;
    }

    /** No generation that lacks its file could be this one. */
    private boolean isNobody(FileView view) {
        CensusRecord record = view.last();
        return generations.values().stream()
                .filter(generation -> generation.inode() == 0 && !generation.gone())
                .allMatch(generation ->
                        Boolean.FALSE.equals(generation.hasHead(record.headLength(), record.headHash())));
    }

    void save(StateWriter out) {
        out.number(round);
        out.number(views.size());
        views.values().forEach(view -> view.save(out));
    }

    void restore(StateReader in) {
        round = in.number();
        for (int count = in.count(); count > 0; count--) {
            FileView view = FileView.restore(in, id);
            views.put(view.inode(), view);
        }
    }
}
