package io.tailrace.flink.signing;

import java.util.Arrays;
import java.util.HexFormat;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * The SHA-256 hashes of at least the last {@value #REMEMBERED} payloads of each key: keyed state that recognizes repeated
 * and forked records. {@value #BLOCK} hashes form one value, because the heap state backend writes all values with each
 * checkpoint, and texts byte by byte.
 */
final class PayloadHashes {

    /** Sequence numbers of a key whose payloads are remembered. */
    static final int REMEMBERED = 4096;

    private static final int BLOCK = 64;
    private static final int SIZE = 32;
    private static final byte[] UNKNOWN = new byte[SIZE];

    private final MapState<String, byte[]> blocks;
    /** Hashes from before there were blocks, by key and sequence number. They are removed as the chain continues. */
    private final MapState<String, String> texts;

    PayloadHashes(RuntimeContext context) {
        blocks = context.getMapState(new MapStateDescriptor<>(
                "payload-hashes", Types.STRING, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
        texts = context.getMapState(textDescriptor());
    }

    static MapStateDescriptor<String, String> textDescriptor() {
        return new MapStateDescriptor<>("payloads", Types.STRING, Types.STRING);
    }

    /** Returns the hash in hexadecimal, or null if it is not remembered. */
    String get(String key, long sequence) throws Exception {
        byte[] block = blocks.get(id(key, Math.floorDiv(sequence, BLOCK)));
        int from = offset(sequence);
        if (block == null || Arrays.equals(block, from, from + SIZE, UNKNOWN, 0, SIZE)) {
            return texts.get(id(key, sequence));
        }
        return HexFormat.of().formatHex(block, from, from + SIZE);
    }

    /** Remembers the hash of a payload, which is given in hexadecimal, and forgets those of much earlier ones. */
    void put(String key, long sequence, String sha256) throws Exception {
        String id = id(key, Math.floorDiv(sequence, BLOCK));
        byte[] known = blocks.get(id);
        byte[] block = known == null ? new byte[BLOCK * SIZE] : known.clone();
        System.arraycopy(HexFormat.of().parseHex(sha256), 0, block, offset(sequence), SIZE);
        blocks.put(id, block);
        long forgotten = sequence - REMEMBERED;
        blocks.remove(id(key, Math.floorDiv(forgotten, BLOCK) - 1));
        texts.remove(id(key, forgotten));
    }

    private static int offset(long sequence) {
        return (int) Math.floorMod(sequence, (long) BLOCK) * SIZE;
    }

    private static String id(String key, long number) {
        return key + '/' + number;
    }
}
