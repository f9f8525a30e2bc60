package io.tailrace.reassembly;

/** The file of a generation, as censuses have shown it. */
final class FileStatus {

    private long inode;
    private boolean gone;
    private long size;
    private TwoClockTime finalSince = TwoClockTime.NEVER;
    private boolean changed;

    /** 0 while no census has shown the file, or when it is gone. */
    long inode() {
        return inode;
    }

    /** The largest size that the census has shown. */
    long size() {
        return size;
    }

    /** The census has shown that the file is no longer there. */
    boolean gone() {
        return gone;
    }

    void bind(long toInode) {
        inode = toInode;
        gone = false;
        changed = true;
    }

    /** The file was taken for another one. */
    void unbind() {
        inode = 0;
        size = 0;
        changed = true;
    }

    /** The file's inode belongs to another file now. */
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

    /** Nothing will be written to the file any more. */
    boolean isFinal() {
        return finalSince != TwoClockTime.NEVER;
    }

    /** Since when the file is final. */
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

    /** Whether anything has changed since it was saved. */
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
