package io.tailrace.fingerprint.credential;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.NumberScanner;

/** Identifies statements that may contain a password, key or token, whose text must not leave the parser. */
public final class PasswordStatements {

    private static final byte[] IDENTIFIED = ByteText.ascii("identified");
    private static final byte[] CONNECTION = ByteText.ascii("connection");
    private static final byte[] URL = ByteText.ascii("://");
    /** Beginning of the hashes of {@code caching_sha2_password}. */
    private static final byte[] SHA2 = ByteText.ascii("$a$0");
    /** Digits of a hash of {@code mysql_native_password}, after its asterisk. */
    private static final int HASH_DIGITS = 40;

    private PasswordStatements() {}

    /**
     * Returns whether the statement mentions a credential by a name of {@link CredentialNames} anywhere, also in a
     * literal or comment (a prepared CREATE USER), contains the hash of a password, or names a connection with a URL
     * (FEDERATED tables). If in doubt, it returns true.
     */
    public static boolean mayHold(byte[] bytes, int from, int to) {
        boolean connection = false;
        for (int i = from; i < to; i++) {
            boolean found =
                    switch (bytes[i]) {
                        case 'i', 'I' -> ByteText.startsWithIgnoreCase(bytes, i, to, IDENTIFIED);
                        case '$' -> ByteText.startsWithIgnoreCase(bytes, i, to, SHA2);
                        case '*' -> isHash(bytes, i + 1, to);
                        default -> false;
                    };
            if (found) {
                return true;
            }
            connection |=
                    (bytes[i] == 'c' || bytes[i] == 'C') && ByteText.startsWithIgnoreCase(bytes, i, to, CONNECTION);
        }
        return connection && ByteText.indexOf(bytes, from, to, URL) >= 0 || CredentialNames.areIn(bytes, from, to);
    }

    private static boolean isHash(byte[] bytes, int from, int to) {
        int i = from;
        while (i < to && i < from + HASH_DIGITS && NumberScanner.isHex(bytes[i])) {
            i++;
        }
        return i == from + HASH_DIGITS;
    }
}
