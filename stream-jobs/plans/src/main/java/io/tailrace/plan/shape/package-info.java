/**
 * The shape of a plan, without costs and row counts: its hash ({@link io.tailrace.plan.shape.PlanHash}), and the
 * differences of two shapes ({@link io.tailrace.plan.shape.PlanDiff}). It depends only on the model.
 */
package io.tailrace.plan.shape;
