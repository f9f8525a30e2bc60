/**
 * One file of a log: its lines, pending bytes, gaps, posted frontier and end; and lines that belong to no generation yet.
 * It depends on {@code state}, {@code content} and {@code ledger}.
 */
package io.tailrace.reassembly.generation;
