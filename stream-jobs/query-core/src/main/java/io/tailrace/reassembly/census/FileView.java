package io.tailrace.reassembly.census;

import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateVersion;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.reassembly.state.TwoClockTime;

/** One file of a log according to the census, by inode. */
public final class FileView {

    private final long inode;
    private CensusRecord last;
    private long generation;
    private long sizeSince;
    private TwoClockTime firstReceivedAt;
    private long round;
    private int missed;
    private long postedMinute = -1;
    private long postedSize = -1;
    private long postedGeneration;

    FileView(CensusRecord first, TwoClockTime now) {
        inode = first.inode();
        last = first;
        sizeSince = first.at();
        firstReceivedAt = now;
    }

    private FileView(long inode) {
        this.inode = inode;
    }

    long inode() {
        return inode;
    }

    public CensusRecord last() {
        return last;
    }

    /** Returns the generation of the file; 0 if unknown. */
    public long generation() {
        return generation;
    }

    public void generation(long number) {
        generation = number;
    }

    TwoClockTime firstReceivedAt() {
        return firstReceivedAt;
    }

    /** Returns how long the file has had its size, by the collector's clock, in microseconds. */
    long unchangedMicros() {
        return last.at() - sizeSince;
    }

    void see(CensusRecord record) {
        if (record.size() != last.size()) {
            sizeSince = record.at();
        }
        last = record;
    }

    void seenIn(long censusRound) {
        round = censusRound;
        missed = 0;
    }

    /** Ends a census round and counts it if it did not list the file. */
    void endOfRound(long endedRound) {
        missed = round < endedRound ? missed + 1 : 0;
    }

    boolean seenSince(long censusRound) {
        return round >= censusRound;
    }

    /** Returns the number of consecutive census rounds that did not list the file. */
    int missed() {
        return missed;
    }

    /** Returns whether the record needs a posting: once a minute, and if the size or the generation has changed. */
    boolean takesPosting(CensusRecord record) {
        long minute = record.at() / 60_000_000L;
        boolean takes = minute != postedMinute || record.size() != postedSize || generation != postedGeneration;
        postedMinute = minute;
        postedSize = record.size();
        postedGeneration = generation;
        return takes;
    }

    void save(StateWriter out) {
        out.number(inode);
        out.text(last.cluster());
        out.text(last.path());
        out.number(last.size());
        out.number(last.headLength());
        out.text(last.headHash());
        out.number(last.at());
        out.number(generation);
        out.number(sizeSince);
        firstReceivedAt.save(out);
        out.number(round);
        out.number(missed);
        out.number(postedMinute);
        out.number(postedSize);
        out.number(postedGeneration);
    }

    static FileView restore(StateReader in, LogId id) {
        FileView view = new FileView(in.number());
        view.last = restoreRecord(in, id, view.inode);
        view.generation = in.number();
        view.sizeSince = in.number();
        if (in.version() < StateVersion.WITH_TWO_CLOCKS) {
            in.number(); // time of the rename; now the inodes of the path show a rename
        }
        view.firstReceivedAt = TwoClockTime.restore(in);
        view.round = in.number();
        view.missed = in.count();
        view.postedMinute = in.number();
        view.postedSize = in.number();
        view.postedGeneration = in.number();
        return view;
    }

    private static CensusRecord restoreRecord(StateReader in, LogId id, long inode) {
        String cluster = in.text();
        String path = in.text();
        long size = in.number();
        int headLength = in.count();
        String headHash = in.text();
        return new CensusRecord(
                id.toKey(), cluster, id.instance(), id.source(), path, inode, size, headLength, headHash, in.number());
    }
}
