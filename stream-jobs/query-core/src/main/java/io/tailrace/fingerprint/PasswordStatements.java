package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;

/** Which statements may set a password: their text must not leave the parser. */
public final class PasswordStatements {

    private static final byte[] PASSW = ByteText.ascii("passw");
    private static final byte[] IDENTIFIED = ByteText.ascii("identified");
    private static final byte[] CONNECTION = ByteText.ascii("connection");
    private static final byte[] URL = ByteText.ascii("://");

    private PasswordStatements() {}

    /**
     * True when the statement speaks of a password anywhere, in a literal or comment too (a prepared CREATE USER),
     * or names a connection with a URL (FEDERATED tables). It errs on the side of silence.
     */
    public static boolean mayHold(byte[] bytes, int from, int to) {
        boolean connection = false;
        for (int i = from; i < to; i++) {
            switch (bytes[i]) {
                case 'p', 'P' -> {
                    if (ByteText.startsWithIgnoreCase(bytes, i, to, PASSW)) {
                        return true;
                    }
                }
                case 'i', 'I' -> {
                    if (ByteText.startsWithIgnoreCase(bytes, i, to, IDENTIFIED)) {
                        return true;
                    }
                }
                case 'c', 'C' -> connection |= ByteText.startsWithIgnoreCase(bytes, i, to, CONNECTION);
                default -> {}
            }
        }
        return connection && ByteText.indexOf(bytes, from, to, URL) >= 0;
    }
}
