package io.tailrace.reassembly;

/** The state of a generation's file according to the censuses. */
final class FileStatus {

    private long inode;
    private boolean gone;
    private long size;
    private TwoClockTime finalSince = TwoClockTime.NEVER;
    private boolean changed;

    /** Returns 0 if no census has listed the file, or if it is gone. */
    long inode() {
        return inode;
    }

    /** Returns the largest size that a census has reported. */
    long size() {
        return size;
    }

    /** Returns whether a census has shown that the file no longer exists. */
    boolean gone() {
        return gone;
    }

    void bind(long toInode) {
        inode = toInode;
        gone = false;
        changed = true;
    }

    /** Removes the inode, because another file was mistaken for this one. */
    void unbind() {
        inode = 0;
        size = 0;
        changed = true;
    }

    /** Records that the file's inode now belongs to another file. */
    void recordLostFile() {
        inode = 0;
        gone = true;
        changed = true;
    }

    void grewTo(long censusSize) {
        if (censusSize > size) {
            size = censusSize;
            changed = true;
        }
    }

    /** Returns whether the file will not grow any more. */
    boolean isFinal() {
        return finalSince != TwoClockTime.NEVER;
    }

    /** Returns the time since which the file is final. */
    TwoClockTime finalSince() {
        return finalSince;
    }

    void isFinalAt(TwoClockTime now) {
        if (!isFinal()) {
            changed = true;
            finalSince = now;
        }
    }

    void mayGrow() {
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
        boolean marked = in.version() < LogReassembler.WITH_TWO_CLOCKS || in.flag();
        TwoClockTime since = TwoClockTime.restore(in);
        boolean never = in.version() < LogReassembler.WITH_TWO_CLOCKS && since.job() == 0;
        finalSince = marked && !never ? since : TwoClockTime.NEVER;
        changed = false;
    }
}
