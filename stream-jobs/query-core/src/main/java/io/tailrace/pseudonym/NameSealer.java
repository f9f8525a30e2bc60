package io.tailrace.pseudonym;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts names for the vault with its public key, so that the process that writes rows cannot read the vault.
 *
 * <p>Each name has a random data key of its own: AES-256-GCM with the pseudonym as additional data. The data key is
 * encrypted with RSA-OAEP (SHA-256 for both hashes), which key management services can decrypt. Not thread-safe.
 */
public final class NameSealer {

    private static final OAEPParameterSpec OAEP =
            new OAEPParameterSpec("SHA-256", "MGF1", MGF1ParameterSpec.SHA256, PSource.PSpecified.DEFAULT);
    private static final int KEY_BYTES = 32;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private final PublicKey vault;
    private final SecureRandom random = new SecureRandom();

    /** @param vault an RSA key */
    public NameSealer(PublicKey vault) {
        this.vault = vault;
    }

    /**
     * Parses a public key.
     *
     * @param pem an RSA key as SubjectPublicKeyInfo in PEM format
     * @throws IllegalArgumentException if it is something else
     */
    public static PublicKey publicKey(String pem) {
        try {
            String body = pem.replaceAll("-----[^-]*-----", "").replaceAll("\\s", "");
            byte[] encoded = Base64.getDecoder().decode(body);
            return KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(encoded));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new IllegalArgumentException("expected a public RSA key in PEM format: " + e.getMessage(), e);
        }
    }

    /** Returns the encrypted name of a pseudonym. Each call has another result. */
    public SealedName seal(String pseudonym, String name) {
        byte[] key = bytes(KEY_BYTES);
        byte[] nonce = bytes(NONCE_BYTES);
        try {
            Cipher wrap = Cipher.getInstance("RSA/ECB/OAEPPadding");
            wrap.init(Cipher.ENCRYPT_MODE, vault, OAEP);
            Cipher seal = Cipher.getInstance("AES/GCM/NoPadding");
            seal.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_BITS, nonce));
            seal.updateAAD(pseudonym.getBytes(StandardCharsets.UTF_8));
            byte[] sealed = seal.doFinal(name.getBytes(StandardCharsets.UTF_8));
            byte[] whole = ByteBuffer.allocate(nonce.length + sealed.length)
                    .put(nonce)
                    .put(sealed)
                    .array();
            return new SealedName(text(wrap.doFinal(key)), text(whole));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot encrypt with the key of the vault: " + e.getMessage(), e);
        }
    }

    private byte[] bytes(int length) {
        byte[] made = new byte[length];
        random.nextBytes(made);
        return made;
    }

    private static String text(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }
}
