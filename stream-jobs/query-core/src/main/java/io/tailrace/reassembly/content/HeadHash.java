package io.tailrace.reassembly.content;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Computes the hash by which the census identifies a file's head. */
public final class HeadHash {

    private HeadHash() {}

    /** Returns the hash of the first bytes in lower-case hexadecimal. */
    public static String hex(byte[] bytes, int length) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            digest.update(bytes, 0, length);
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has MD5", e);
        }
    }
}
