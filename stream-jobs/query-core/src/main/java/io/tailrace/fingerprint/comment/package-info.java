/**
 * Comments of a statement: their tags, what they cut off, which tool wrote them, and where servers disagree about their
 * end. It depends on no other package of the fingerprint.
 */
package io.tailrace.fingerprint.comment;
