package io.tailrace.signing;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;

/** A public Ed25519 key of a host, which verifies the host's payloads. Not thread-safe. */
public final class HostKey {

    private static final byte[] PREFIX = "tailrace-signed-range-v1\n".getBytes(StandardCharsets.US_ASCII);
    private static final int KEY_BYTES = 32;
    private static final int ID_DIGITS = 16;
    /** SubjectPublicKeyInfo of Ed25519 (RFC 8410) before the raw key. */
    private static final byte[] HEADER = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

    private final String id;
    private final PublicKey key;

    private HostKey(String id, PublicKey key) {
        this.id = id;
        this.key = key;
    }

    /**
     * Reads a raw public key of 32 bytes in base64.
     *
     * @throws IllegalArgumentException if it is not one
     */
    public static HostKey of(String base64) {
        byte[] raw = Base64.getDecoder().decode(base64);
        if (raw.length != KEY_BYTES) {
            throw new IllegalArgumentException("expected a public key of 32 bytes, found " + raw.length);
        }
        byte[] encoded = new byte[HEADER.length + raw.length];
        System.arraycopy(HEADER, 0, encoded, 0, HEADER.length);
        System.arraycopy(raw, 0, encoded, HEADER.length, raw.length);
        try {
            PublicKey key = KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded));
            return new HostKey(RangeHash.hex(raw).substring(0, ID_DIGITS), key);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("not a public Ed25519 key: " + e.getMessage(), e);
        }
    }

    /** Returns the first 16 hexadecimal digits of the SHA-256 of the raw key. */
    public String id() {
        return id;
    }

    /** Returns whether the host signed the payload. A signature that is not base64 is not one. */
    public boolean signed(byte[] payload, String signature) {
        try {
            Signature verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(key);
            verifier.update(PREFIX);
            verifier.update(payload);
            return verifier.verify(Base64.getDecoder().decode(signature));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            return false;
        }
    }
}
