/** Warnings for single nodes of a plan, and advice with its evidence. No statement is ever executed. */
package io.tailrace.plan.advice;
