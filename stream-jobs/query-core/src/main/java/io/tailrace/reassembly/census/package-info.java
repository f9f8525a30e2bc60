/**
 * What the census reports about the files of a log, and the generations that they are. It depends on {@code state},
 * {@code ledger} and {@code generation}.
 */
package io.tailrace.reassembly.census;
