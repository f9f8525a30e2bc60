/**
 * A common model for the plans of MySQL, Percona Server and MariaDB. {@link io.tailrace.plan.PlanReader} reads all
 * their formats, {@link io.tailrace.plan.PlanHash} identifies the shape of a plan. The model contains no literals of
 * statements.
 */
package io.tailrace.plan;
