/**
 * Compares signed ranges with what the generations read, and reports the results. It depends on {@code state},
 * {@code content} and {@code generation}.
 */
package io.tailrace.reassembly.signing;
