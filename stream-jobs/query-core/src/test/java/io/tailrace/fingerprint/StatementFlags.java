package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;
import java.util.List;

/** The flags of a statement for a server with the default mode. */
public final class StatementFlags {

    private static final Fingerprinter FINGERPRINTER = new Fingerprinter();

    private StatementFlags() {}

    /** Returns the names of the flags, in their order. */
    public static List<String> of(String statement) {
        byte[] bytes = ByteText.bytes(statement);
        NormalizedStatement shape = FINGERPRINTER.statement(bytes, 0, bytes.length);
        return FINGERPRINTER.flags(shape, bytes, 0, bytes.length);
    }
}
