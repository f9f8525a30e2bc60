/**
 * The steps from a statement to the text of its fingerprint: {@code Masker} writes it without literals and comments,
 * {@code NameMask} replaces digits of names, {@code ListCollapser} and {@code Unions} collapse repetitions. It depends on
 * {@code token}, {@code comment}, {@code credential} and {@code account}.
 */
package io.tailrace.fingerprint.mask;
