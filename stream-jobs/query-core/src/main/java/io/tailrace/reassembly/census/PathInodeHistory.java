package io.tailrace.reassembly.census;

import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Records which files the census found under each path, and when. Times are epoch microseconds of the collector. */
final class PathInodeHistory {

    /** Number of rotations that are stored for each path. */
    private static final int REMEMBERED = 8;
    /** Period in which a collector may still report a renamed file under its old name. */
    private static final long LATE_MICROS = 2_000_000;
    /** Maximum delay with which the census notices a rename. */
    private static final long EARLY_MICROS = 1_000_000;

    private static final Deque<Owner> NONE = new ArrayDeque<>();

    private static final class Owner {
        private final long inode;
        private long firstAt;
        private long lastAt;

        private Owner(long inode, long firstAt, long lastAt) {
            this.inode = inode;
            this.firstAt = firstAt;
            this.lastAt = lastAt;
        }
    }

    private final Map<String, Deque<Owner>> owners = new TreeMap<>();

    void see(String path, long inode, long at) {
        Deque<Owner> ofPath = owners.computeIfAbsent(path, p -> new ArrayDeque<>());
        Owner last = ofPath.peekLast();
        if (last != null && at <= last.lastAt) {
            seeLate(ofPath, inode, at);
            return;
        }
        if (last != null && last.inode == inode) {
            last.lastAt = at;
            return;
        }
        ofPath.add(new Owner(inode, at, at));
        if (ofPath.size() > REMEMBERED) {
            ofPath.poll();
        }
    }

    private static void seeLate(Deque<Owner> ofPath, long inode, long at) {
        for (Owner owner : ofPath) {
            if (owner.inode == inode) {
                owner.lastAt = Math.max(owner.lastAt, at);
                owner.firstAt = Math.min(owner.firstAt, at);
            }
        }
    }

    /** Returns whether a census at or after a time found the path. */
    boolean seenSince(String path, long micros) {
        return owners.getOrDefault(path, NONE).stream().anyMatch(owner -> owner.lastAt >= micros);
    }

    /**
     * Returns the inodes that may have been under the path at a time, the most probable first: normally one, several
     * around a rename. Empty if no census has found the path since then.
     */
    List<Long> around(String path, long micros) {
        List<Long> found = new ArrayList<>();
        if (!seenSince(path, micros)) {
            return found;
        }
        Owner before = null;
        Owner owner = null;
        for (Owner next : owners.get(path)) {
            boolean mayHaveBegun = owner == null || (owner.lastAt < micros && next.firstAt - EARLY_MICROS <= micros);
            if (owner != null && next.firstAt >= micros) {
                addIf(mayHaveBegun, next, found);
                break;
            }
            before = owner;
            owner = next;
        }
        found.add(0, owner.inode);
        addIf(before != null && micros <= owner.firstAt + LATE_MICROS, before, found);
        return found;
    }

    private static void addIf(boolean may, Owner owner, List<Long> found) {
        if (may) {
            found.add(owner.inode);
        }
    }

    void save(StateWriter out) {
        out.number(owners.size());
        owners.forEach((path, ofPath) -> {
            out.text(path);
            out.number(ofPath.size());
            for (Owner owner : ofPath) {
                out.number(owner.inode);
                out.number(owner.firstAt);
                out.number(owner.lastAt);
            }
        });
    }

    void restore(StateReader in) {
        for (int paths = in.count(); paths > 0; paths--) {
            String path = in.text();
            Deque<Owner> ofPath = new ArrayDeque<>();
            for (int count = in.count(); count > 0; count--) {
                long inode = in.number();
                long firstAt = in.number();
                ofPath.add(new Owner(inode, firstAt, in.number()));
            }
            owners.put(path, ofPath);
        }
    }
}
