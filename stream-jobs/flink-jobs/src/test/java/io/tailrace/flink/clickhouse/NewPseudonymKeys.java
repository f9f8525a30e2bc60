package io.tailrace.flink.clickhouse;

import io.tailrace.pseudonym.Pseudonyms;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Base64;
import java.util.HexFormat;

/** Files of keys of pseudonyms, with a new key of a vault. */
final class NewPseudonymKeys {

    static final byte[] KEY = new byte[Pseudonyms.KEY_BYTES];

    private NewPseudonymKeys() {}

    static PseudonymKeys in(Path directory) throws Exception {
        return in(directory, 2048);
    }

    static PseudonymKeys in(Path directory, int bits) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(bits);
        KeyPair vault = generator.generateKeyPair();
        String pem = "-----BEGIN PUBLIC KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(vault.getPublic().getEncoded())
                + "\n-----END PUBLIC KEY-----\n";
        Path key = Files.writeString(directory.resolve("key"), HexFormat.of().formatHex(KEY) + '\n');
        Path publicKey = Files.writeString(directory.resolve("public.pem"), pem);
        return new PseudonymKeys(key.toString(), publicKey.toString());
    }
}
