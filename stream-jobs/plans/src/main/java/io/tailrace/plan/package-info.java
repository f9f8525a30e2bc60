/**
 * A common model for the plans of MySQL, Percona Server and MariaDB. The model contains no literals of statements. It
 * depends only on {@code plan.json}, for members that it does not know. {@code plan.reader} reads all formats into it,
 * {@code plan.shape} identifies and compares plans, {@code plan.advice} warns, {@code plan.record} writes them out.
 */
package io.tailrace.plan;
