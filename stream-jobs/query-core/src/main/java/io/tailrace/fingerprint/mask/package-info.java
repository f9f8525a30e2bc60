/**
 * The steps from a statement to the text of its fingerprint. {@code Masker} reads the statement once and writes it without
 * literals and comments: {@code MaskedText} is its output, {@code LiteralReader}, {@code CommentMask} and {@code
 * AccountMask} treat literals, comments and accounts. {@code NameMask} then replaces digits of names, {@code
 * ListCollapser} and {@code Unions} collapse repetitions. The package depends on {@code token}, {@code comment}, {@code
 * credential} and {@code account}.
 */
package io.tailrace.fingerprint.mask;
