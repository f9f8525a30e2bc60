package io.tailrace.flink.framing;

import io.tailrace.reassembly.assignment.LogReassembler;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/** Reports that another version of Tailrace wrote the restored state. A restart does not help. */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
final class IncompatibleStateException extends Exception {

    private static final long serialVersionUID = 1L;

    /** @param found description of the state, for the message */
    IncompatibleStateException(String found) {
        super("the checkpoint was written by another version of Tailrace: its state has " + found
                + ", this version reads "
                + LogReassembler.OLDEST_STATE_VERSION + " to " + LogReassembler.STATE_VERSION
                + ". Start the version that wrote it, or start again with empty tables and without a"
                + " checkpoint (make clean-data).");
    }
}
