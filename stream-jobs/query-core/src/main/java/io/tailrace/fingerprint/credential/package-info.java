/**
 * Finds passwords, keys and tokens of a statement, so that none is written. It depends on {@code token}. Parsers of logs
 * also use {@code CredentialNames} and {@code PasswordStatements}; nothing else outside of the fingerprint does.
 */
package io.tailrace.fingerprint.credential;
