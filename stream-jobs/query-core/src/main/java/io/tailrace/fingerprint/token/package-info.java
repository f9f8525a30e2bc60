/**
 * Tokens of a statement with its literals, and the text of a literal that is prepared as a statement. It depends only on
 * the lexer.
 */
package io.tailrace.fingerprint.token;
