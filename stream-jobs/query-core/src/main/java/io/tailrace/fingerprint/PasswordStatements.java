package io.tailrace.fingerprint;

import io.tailrace.lexer.ByteText;

/** Identifies statements that may set a password, whose text must not leave the parser. */
public final class PasswordStatements {

    private static final byte[] PASSW = ByteText.ascii("passw");
    private static final byte[] IDENTIFIED = ByteText.ascii("identified");
    private static final byte[] CONNECTION = ByteText.ascii("connection");
    private static final byte[] URL = ByteText.ascii("://");

    private PasswordStatements() {}

    /**
     * Returns whether the statement mentions a password anywhere, also in a literal or comment (a prepared CREATE
     * USER), or names a connection with a URL (FEDERATED tables). If in doubt, it returns true.
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
