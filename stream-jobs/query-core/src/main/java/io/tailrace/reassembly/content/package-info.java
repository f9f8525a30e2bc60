/**
 * Hashes of the bytes that were read: of lines and segments, to recognize lines that arrive again; of heads, to compare a
 * file with the census; of ranges, to compare them with signed ranges. It depends on {@code state} and on the limits.
 */
package io.tailrace.reassembly.content;
