/**
 * Determines the class, the flags, the accounts and the sample of a statement (docs/FINGERPRINT.md). Start with {@link
 * io.tailrace.fingerprint.Fingerprinter}; nothing below depends on this package. Each package depends only on those
 * above it, and on the lexer:
 *
 * <ul>
 *   <li>{@code token}: the tokens of a statement, with its literals
 *   <li>{@code comment}: the comments that a fingerprint omits
 *   <li>{@code credential}: passwords, keys and tokens
 *   <li>{@code flag}: properties of literals, which the class does not show
 *   <li>{@code account}: names of accounts and roles
 *   <li>{@code mask}: the steps from a statement to the text of its fingerprint
 * </ul>
 */
package io.tailrace.fingerprint;
