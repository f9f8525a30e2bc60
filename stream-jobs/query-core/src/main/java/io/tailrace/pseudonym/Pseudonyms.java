package io.tailrace.pseudonym;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Derives pseudonyms of names: {@code p1-user-} or {@code p1-client-}, and 32 hexadecimal digits of an HMAC-SHA-256.
 * Equal names have equal pseudonyms in all rows and processes, so rows can be counted and joined.
 *
 * <p>Who has the key can compute the pseudonym of any name, and so find out whose it is by trying names. Not
 * thread-safe.
 */
public final class Pseudonyms {

    /** Minimum length of the key in bytes. */
    public static final int KEY_BYTES = 32;

    private static final String VERSION = "p1";
    private static final String CONTEXT = "tailrace-pseudonym-v1\n";
    private static final String ALGORITHM = "HmacSHA256";
    private static final int DIGEST_BYTES = 16;

    /** Names that concern nobody, and by which queries recognise local connections. */
    private static final Set<String> IN_CLEAR = Set.of("", "localhost", "::1");

    private static final String LOOPBACK = "127.";

    private final Mac mac;

    /**
     * @param key at least {@value #KEY_BYTES} bytes
     * @throws IllegalArgumentException if the key is shorter
     */
    public Pseudonyms(byte[] key) {
        if (key.length < KEY_BYTES) {
            throw new IllegalArgumentException("the key of pseudonyms must have at least " + KEY_BYTES + " bytes");
        }
        try {
            mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java runtime has " + ALGORITHM, e);
        }
    }

    /**
     * Returns the pseudonym of a name, or the name itself if it {@link #isClear is stored in clear}.
     *
     * @param name as rows contain it. ASCII letters of a client are converted to lower case first
     */
    public String of(SubjectKind kind, String name) {
        String plain = kind == SubjectKind.CLIENT ? lowerCase(name) : name;
        if (isClear(kind, plain)) {
            return name;
        }
        String message = CONTEXT + kind.word() + '\n' + plain;
        byte[] digest = mac.doFinal(message.getBytes(StandardCharsets.UTF_8));
        return VERSION + '-' + kind.word() + '-' + HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
    }

    /** Returns whether a name has no pseudonym: the empty name, and clients on the server itself. */
    public static boolean isClear(SubjectKind kind, String name) {
        return name.isEmpty() || kind == SubjectKind.CLIENT && (IN_CLEAR.contains(lowerCase(name)) || isLoopback(name));
    }

    private static boolean isLoopback(String name) {
        return name.startsWith(LOOPBACK) && name.chars().allMatch(c -> c == '.' || c >= '0' && c <= '9');
    }

    /** Converts ASCII letters only: languages differ in the others. */
    private static String lowerCase(String name) {
        StringBuilder lower = new StringBuilder(name);
        for (int i = 0; i < lower.length(); i++) {
            char c = lower.charAt(i);
            if (c >= 'A' && c <= 'Z') {
                lower.setCharAt(i, (char) (c + ('a' - 'A')));
            }
        }
        return lower.toString();
    }
}
