package io.tailrace.reassembly.content;

import io.tailrace.reassembly.state.StateReader;
import io.tailrace.reassembly.state.StateWriter;
import java.util.Arrays;

/** The first bytes of a file, as far as they were read. A census identifies the file by their hash. */
public final class FileHead {

    private static final int MAX_BYTES = 4096;

    private byte[] bytes = new byte[0];
    /** The bytes before this index are as in the file; a later line end may have two bytes in the file. */
    private int sureTo = MAX_BYTES;

    /** Stores bytes that start at the frontier of the file, unless the head is complete. */
    public void keep(byte[] block, int from, long frontier) {
        if (frontier == bytes.length && bytes.length < MAX_BYTES) {
            int more = Math.min(MAX_BYTES - bytes.length, block.length - from);
            byte[] longer = Arrays.copyOf(bytes, bytes.length + more);
            System.arraycopy(block, from, longer, bytes.length, more);
            bytes = longer;
        }
    }

    /** Extends the end of the last line before the frontier from one byte to two. */
    public void extendLastLine(long frontier) {
        if (bytes.length > 0 && bytes.length == frontier) {
            sureTo = Math.min(sureTo, bytes.length - 1);
            bytes = Arrays.copyOf(longer(), Math.min(bytes.length + 1, MAX_BYTES));
        }
    }

    /**
     * Returns whether a file's first bytes have this hash.
     *
     * @param endsAtUnsureLine whether the file was read, up to {@code frontier}, to a line end that may be longer
     * @return null if too few bytes were read to decide
     */
    public Boolean matches(int length, String md5, long frontier, boolean endsAtUnsureLine) {
        boolean endsAtFrontier = bytes.length == frontier && endsAtUnsureLine;
        if (endsAtFrontier && length == bytes.length + 1) {
            return md5.equals(HeadHash.hex(longer(), length)) ? Boolean.TRUE : null;
        }
        if (length == 0 || length > bytes.length) {
            return null;
        }
        boolean equal = md5.equals(HeadHash.hex(bytes, length));
        boolean unsure = length > sureTo || (endsAtFrontier && length == bytes.length);
        return !equal && unsure ? null : (Boolean) equal;
    }

    private byte[] longer() {
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
        longer[bytes.length - 1] = '\r';
        longer[bytes.length] = '\n';
        return longer;
    }

    public void save(StateWriter out) {
        out.bytes(bytes);
        out.number(sureTo);
    }

    public void restore(StateReader in) {
        bytes = in.bytes();
        sureTo = in.count();
    }
}
