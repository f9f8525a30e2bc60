/**
 * Compiles searches, their modifiers and the condition over them into an expression of {@code detection.match}. The entry
 * for searches outside of rules is {@link io.tailrace.detection.sigma.search.SearchCompiler}. It depends on {@code
 * sigma.yaml} and {@code sigma.rule}.
 */
package io.tailrace.detection.sigma.search;
