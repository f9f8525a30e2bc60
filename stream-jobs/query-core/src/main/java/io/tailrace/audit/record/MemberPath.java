package io.tailrace.audit.record;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StringPool;
import io.tailrace.lexer.ValueBuffer;

/**
 * The name of a member of a nested record, as {@link MemberHandler} receives it: the names of its parents and its own,
 * joined with full stops. Not thread-safe.
 */
public final class MemberPath {

    private final StringPool names = new StringPool();
    private final ValueBuffer path = new ValueBuffer();

    /** Returns the length in bytes, for {@link #truncate}; 0 outside of the members. */
    public int length() {
        return path.length;
    }

    /** Appends a name. */
    public void enter(byte[] bytes, int from, int to) {
        separate();
        path.put(bytes, from, to);
    }

    /** Appends a name in lower case. */
    public void enterLowerCase(byte[] bytes, int from, int to) {
        separate();
        for (int i = from; i < to; i++) {
            path.put(ByteText.lower(bytes[i]));
        }
    }

    private void separate() {
        if (path.length > 0) {
            path.put((byte) '.');
        }
    }

    /** Removes the names that were appended after this length. */
    public void truncate(int length) {
        path.length = length;
    }

    /** Returns the complete name. */
    public String name() {
        return names.utf8(path.bytes, 0, path.length);
    }
}
