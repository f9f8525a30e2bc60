package io.tailrace.signing;

import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/** The Merkle tree of RFC 6962 over the lengths and hashes of ranges: each entry is the data of a leaf. */
final class RangeTree {

    private static final byte LEAF = 0;
    private static final byte NODE = 1;

    private final MessageDigest digest = RangeHash.sha256();

    /**
     * Returns the root. The last node of an odd level moves up as it is.
     *
     * @param entries at least one
     */
    byte[] root(List<byte[]> entries) {
        List<byte[]> level = new ArrayList<>();
        for (byte[] entry : entries) {
            digest.update(LEAF);
            level.add(digest.digest(entry));
        }
        while (level.size() > 1) {
            level = parents(level);
        }
        return level.get(0);
    }

    private List<byte[]> parents(List<byte[]> level) {
        List<byte[]> above = new ArrayList<>();
        for (int left = 0; left + 1 < level.size(); left += 2) {
            digest.update(NODE);
            digest.update(level.get(left));
            above.add(digest.digest(level.get(left + 1)));
        }
        if (level.size() % 2 == 1) {
            above.add(level.get(level.size() - 1));
        }
        return above;
    }
}
