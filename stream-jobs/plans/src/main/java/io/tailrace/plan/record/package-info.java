/**
 * The forms in which a plan is stored and printed: JSON, an outline, and the record of a statement's plan. It depends
 * on the model, on the hashes of {@code plan.shape}, and on {@code plan.advice}.
 */
package io.tailrace.plan.record;
