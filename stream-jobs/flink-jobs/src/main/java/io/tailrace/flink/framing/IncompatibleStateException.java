package io.tailrace.flink.framing;

import io.tailrace.reassembly.LogReassembler;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/** The state that the job was started from was written by another version. Starting again does not help. */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
final class IncompatibleStateException extends Exception {

    private static final long serialVersionUID = 1L;

    /** @param found what is in the state, for people */
    IncompatibleStateException(String found) {
        super("the checkpoint is of another version of Tailrace: its state has " + found + ", this version reads "
                + LogReassembler.OLDEST_STATE_VERSION + " to " + LogReassembler.STATE_VERSION
                + ". Start the version that wrote it, or begin anew with empty tables and without a"
                + " checkpoint (make clean-data).");
    }
}
