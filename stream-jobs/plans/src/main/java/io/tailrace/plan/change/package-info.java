/** Detection of plan changes, and whether a statement is slower since then (docs/PLANS.md, changes). */
package io.tailrace.plan.change;
