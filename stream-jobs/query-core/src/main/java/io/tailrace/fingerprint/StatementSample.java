package io.tailrace.fingerprint;

import io.tailrace.fingerprint.credential.PasswordStatements;
import io.tailrace.lexer.ByteText;

/** The text of a statement as logged, with its values. It leaves the parser only if it contains no credential. */
public final class StatementSample {

    /** Length of the longest sample, bytes; longer statements are cut. */
    private static final int MAX_LENGTH = 64 << 10;

    private StatementSample() {}

    /** Returns the sample of a statement; an empty text if it may contain a password, key or token. */
    public static String of(byte[] bytes, int from, int to) {
        return PasswordStatements.mayHold(bytes, from, to)
                ? ""
                : ByteText.utf8(bytes, from, Math.min(to, from + MAX_LENGTH));
    }
}
