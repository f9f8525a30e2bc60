package io.tailrace.fingerprint.credential;

import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlBytes;
import java.util.List;

/**
 * The names of passwords, keys and tokens: settings such as {@code wsrep_sst_auth}, {@code s3_secret_key} and {@code
 * authentication_ldap_simple_bind_root_pwd}, and columns of the grant tables.
 */
public final class CredentialNames {

    /** Parts of such names, in lower case. */
    public static final List<String> PARTS = List.of(
            "passw",
            "_secret",
            "secret_",
            "_token",
            "access_key",
            "authentication_string",
            "auth_string",
            "plugin_auth",
            "global_priv");

    /** Ends of such names, in lower case; {@code _auth} is not one in {@code _authors}. */
    public static final List<String> ENDS = List.of("_pwd", "_auth");

    private static final byte[][] PART_BYTES =
            PARTS.stream().map(ByteText::ascii).toArray(byte[][]::new);
    private static final byte[][] END_BYTES = ENDS.stream().map(ByteText::ascii).toArray(byte[][]::new);

    private static final boolean[] FIRST = new boolean[256];

    static {
        for (String name : PARTS) {
            FIRST[name.charAt(0)] = true;
            FIRST[Character.toUpperCase(name.charAt(0))] = true;
        }
    }

    private CredentialNames() {}

    /** Returns whether such a name is anywhere in a text: in a name, a literal or a comment, in any case. */
    public static boolean areIn(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (FIRST[bytes[i] & 0xff] && isAt(bytes, i, to)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isAt(byte[] bytes, int i, int to) {
        for (byte[] end : END_BYTES) {
            int after = i + end.length;
            if (ByteText.startsWithIgnoreCase(bytes, i, to, end) && (after == to || !SqlBytes.isWord(bytes[after]))) {
                return true;
            }
        }
        for (byte[] part : PART_BYTES) {
            if (ByteText.startsWithIgnoreCase(bytes, i, to, part)) {
                return true;
            }
        }
        return false;
    }
}
