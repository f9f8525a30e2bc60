/** JSON as servers write plans: read to the end whatever it is, with a report of what was not JSON. */
package io.tailrace.plan.json;
