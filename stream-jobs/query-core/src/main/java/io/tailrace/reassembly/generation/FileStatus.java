package io.tailrace.reassembly.generation;

import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateVersion;
import io.tailrace.reassembly.state.StateWriter;
import io.tailrace.reassembly.state.TwoClockTime;

/** The state of a generation's file according to the censuses. */
public final class FileStatus {

    private long inode;
    private boolean gone;
    private long size;
    private TwoClockTime finalSince = TwoClockTime.NEVER;
    private boolean changed;

    /** Returns 0 if no census has listed the file, or if it is gone. */
    public long inode() {
        return inode;
    }

    /** Returns the largest size that a census has reported. */
    public long size() {
        return size;
    }

    /** Returns whether a census has shown that the file no longer exists. */
    public boolean gone() {
        return gone;
    }

    public void bind(long toInode) {
        inode = toInode;
        gone = false;
        changed = true;
    }

    /** Removes the inode, because another file was mistaken for this one. */
    public void unbind() {
        inode = 0;
        size = 0;
        changed = true;
    }

    /** Records that the file's inode now belongs to another file. */
    public void recordLostFile() {
        inode = 0;
        gone = true;
        changed = true;
    }

    public void grewTo(long censusSize) {
        if (censusSize > size) {
            size = censusSize;
            changed = true;
        }
    }

    /** Returns whether the file will not grow any more. */
    public boolean isFinal() {
        return finalSince != TwoClockTime.NEVER;
    }

    /** Returns the time since which the file is final. */
    public TwoClockTime finalSince() {
        return finalSince;
    }

    public void isFinalAt(TwoClockTime now) {
        if (!isFinal()) {
            changed = true;
            finalSince = now;
        }
    }

    public void mayGrow() {
        changed |= isFinal();
        finalSince = TwoClockTime.NEVER;
    }

    /** Returns whether the state has changed since it was saved. */
    boolean changed() {
        return changed;
    }

    void save(StateWriter out) {
        out.number(inode);
        out.flag(gone);
        out.number(size);
        out.flag(isFinal());
        finalSince.save(out);
        changed = false;
    }

    void restore(StateReader in) {
        inode = in.number();
        gone = in.flag();
        size = in.number();
        boolean marked = in.version() < StateVersion.WITH_TWO_CLOCKS || in.flag();
        TwoClockTime since = TwoClockTime.restore(in);
        boolean never = in.version() < StateVersion.WITH_TWO_CLOCKS && since.job() == 0;
        finalSince = marked && !never ? since : TwoClockTime.NEVER;
        changed = false;
    }
}
