package io.tailrace.detection.action;

import io.tailrace.detection.event.CaseFolding;

/** 64 bits of a text: FNV-1a over its characters, which are few, in letters of one case, and then mixed. */
final class TextHash {

    private static final long BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private TextHash() {}

    /** Never 0, which stands for nothing. */
    static long of(String text) {
        long hash = BASIS;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ CaseFolding.fold(text.charAt(i))) * PRIME;
        }
        return hash == 0 ? 1 : hash;
    }

    /** One bit for a table's name without its database, which not every log knows; a set of them is their union. */
    static long tableBit(String table) {
        long hash = of(table.substring(table.lastIndexOf('.') + 1));
        return 1L << (hash * BASIS >>> 58);
    }
}
