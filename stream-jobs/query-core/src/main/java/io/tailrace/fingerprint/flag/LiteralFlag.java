package io.tailrace.fingerprint.flag;

import io.tailrace.flag.EventFlag;

/** Detects a property of the literals of a statement, which has one flag. */
public interface LiteralFlag {

    EventFlag flag();

    /**
     * Returns whether the statement in a range has the property.
     *
     * @param masked the text is masked: a question mark may be any literal, and the result is whether a statement with this
     *     text may have the property
     */
    boolean isIn(byte[] bytes, int from, int to, boolean masked);
}
