package io.tailrace.pseudonym;

/**
 * A name in the vault. Its deletion makes the pseudonym unreadable.
 *
 * @param wrappedKey the data key of the subject, encrypted with the public key of the vault; Base64
 * @param sealedName nonce, encrypted name and authentication tag; Base64
 */
public record SealedName(String wrappedKey, String sealedName) {}
