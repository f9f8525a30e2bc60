/**
 * Writes postings and dead letters, with reversals. It depends on the outputs of {@code io.tailrace.reassembly}.
 */
package io.tailrace.reassembly.ledger;
