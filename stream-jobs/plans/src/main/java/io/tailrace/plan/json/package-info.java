/** Reads the JSON of plans, repairs what is not valid JSON, and reports each repair. */
package io.tailrace.plan.json;
