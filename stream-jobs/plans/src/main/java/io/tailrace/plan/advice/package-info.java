/** What a plan itself says against it: warnings of single nodes, advice with its evidence. Nothing is ever executed. */
package io.tailrace.plan.advice;
