package io.tailrace.detection.action;

import io.tailrace.detection.event.CaseFolding;

/** Hashes a text to 64 bits: FNV-1a over its characters, followed by a mixing step. Texts are short and of one case. */
final class TextHash {

    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private TextHash() {}

    /** Returns a hash that is never 0, because 0 means absent. */
    static long of(String text) {
        long hash = BASIS;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ CaseFolding.fold(text.charAt(i))) * PRIME;
        }
        return hash == 0 ? 1 : hash;
    }

    /**
     * Returns one bit for a table name without its database, which not every log contains. A set of tables is the union
     * of their bits.
     */
    static long tableBit(String table) {
        long hash = of(table.substring(table.lastIndexOf('.') + 1));
        return 1L << (hash * BASIS >>> 58);
    }
}
