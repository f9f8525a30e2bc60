package io.tailrace.reassembly;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which files the census has found under each path, and when. Times are epoch microseconds of the collector.
 */
final class PathOwners {

    /** Rotations that are remembered for each path. */
    private static final int REMEMBERED = 8;

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

    /** Inode under the path at the first census not before a time; 0 when there was none. */
    long at(String path, long micros) {
        for (Owner owner : owners.getOrDefault(path, new ArrayDeque<>())) {
            if (owner.lastAt >= micros) {
                return owner.inode;
            }
        }
        return 0;
    }

    /**
     * Inode under the path at the last census before the first one not before a time, if it was another; else
     * 0.
     */
    long before(String path, long micros) {
        Owner previous = null;
        for (Owner owner : owners.getOrDefault(path, new ArrayDeque<>())) {
            if (owner.lastAt >= micros) {
                return previous == null || owner.firstAt <= micros ? 0 : previous.inode;
            }
            previous = owner;
        }
        return 0;
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
