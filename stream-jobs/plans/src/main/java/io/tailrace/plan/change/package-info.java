/** When a statement's plan changed, and whether it is slower since: docs/PLANS.md, changes. */
package io.tailrace.plan.change;
