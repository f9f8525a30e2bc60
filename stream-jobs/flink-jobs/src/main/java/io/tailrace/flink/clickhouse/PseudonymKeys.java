package io.tailrace.flink.clickhouse;

import io.tailrace.flink.runtime.ConfigParser;
import io.tailrace.flink.runtime.ConfigurationException;
import io.tailrace.flink.runtime.SharedJobOptions;
import io.tailrace.pseudonym.NameSealer;
import io.tailrace.pseudonym.Pseudonyms;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The files of the keys with which names in rows are replaced by pseudonyms.
 *
 * @param pseudonyms file with the key of the pseudonyms in hexadecimal digits
 * @param vault file with the public key of the vault in PEM format
 */
public record PseudonymKeys(String pseudonyms, String vault) implements Serializable {

    /**
     * Returns the keys that the keys {@code pseudonym.*} of a job name; empty: names are stored as they are.
     *
     * @throws ConfigurationException as the other method
     */
    public static Optional<PseudonymKeys> of(ConfigParser values) {
        return of(
                values.text(SharedJobOptions.PSEUDONYM_KEY_FILE),
                values.text(SharedJobOptions.PSEUDONYM_VAULT_KEY_FILE));
    }

    /**
     * Returns the keys, after a test that the files contain some; empty if neither file is named.
     *
     * @throws ConfigurationException if only one file is named, cannot be read or contains no such key
     */
    static Optional<PseudonymKeys> of(String pseudonyms, String vault) {
        if (pseudonyms.isEmpty() && vault.isEmpty()) {
            return Optional.empty();
        }
        if (pseudonyms.isEmpty() || vault.isEmpty()) {
            throw new ConfigurationException("pseudonym.key-file and pseudonym.vault-key-file are needed together");
        }
        PseudonymKeys keys = new PseudonymKeys(pseudonyms, vault);
        try {
            keys.readPseudonyms();
            keys.readVault();
        } catch (IllegalArgumentException | UncheckedIOException e) {
            throw new ConfigurationException(e.getMessage());
        }
        return Optional.of(keys);
    }

    Pseudonyms readPseudonyms() {
        try {
            return new Pseudonyms(HexFormat.of().parseHex(read(pseudonyms).strip()));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(pseudonyms + ": " + e.getMessage(), e);
        }
    }

    NameSealer readVault() {
        try {
            return new NameSealer(NameSealer.publicKey(read(vault)));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(vault + ": " + e.getMessage(), e);
        }
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the key " + file, e);
        }
    }
}
