/**
 * Inputs, outputs and limits of the reassembly of logs (docs/LEDGER.md); depends on no sub-package. Start with
 * {@link io.tailrace.reassembly.assignment.LogReassembler}. Each package depends only on those above it:
 *
 * <ul>
 *   <li>{@code state}: the form of a log's state, and times by two clocks
 *   <li>{@code content}: hashes of what was read
 *   <li>{@code ledger}: postings and dead letters
 *   <li>{@code generation}: one file of a log, with its lines, gaps and end
 *   <li>{@code census}, {@code signing}: the files of a log that hosts report, and their signed ranges
 *   <li>{@code assignment}: the generation to which lines belong
 * </ul>
 */
package io.tailrace.reassembly;
