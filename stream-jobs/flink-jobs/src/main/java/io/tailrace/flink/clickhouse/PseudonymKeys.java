package io.tailrace.flink.clickhouse;

import io.tailrace.pseudonym.NameSealer;
import io.tailrace.pseudonym.Pseudonyms;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * The files of the keys with which names in rows are replaced by pseudonyms.
 *
 * @param pseudonyms file with the key of the pseudonyms in hexadecimal digits
 * @param vault file with the public key of the vault in PEM format
 */
public record PseudonymKeys(String pseudonyms, String vault) implements Serializable {

    /**
     * @throws IllegalArgumentException if a file contains no such key; the message names it
     * @throws UncheckedIOException if a file cannot be read
     */
    public void check() {
        readPseudonyms();
        readVault();
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
