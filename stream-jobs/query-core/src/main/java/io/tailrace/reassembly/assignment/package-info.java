/**
 * Decides to which generation of a log lines belong. It depends on all other packages of the reassembly; nothing in
 * {@code query-core} depends on it.
 */
package io.tailrace.reassembly.assignment;
