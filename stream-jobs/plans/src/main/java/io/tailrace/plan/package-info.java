/**
 * Plans of MySQL, Percona Server and MariaDB in one model: {@link io.tailrace.plan.PlanReader} reads all their formats,
 * {@link io.tailrace.plan.PlanHash} tells shapes apart. No literal of a statement is in the model.
 */
package io.tailrace.plan;
