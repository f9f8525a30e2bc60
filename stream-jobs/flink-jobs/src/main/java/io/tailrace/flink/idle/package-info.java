/**
 * Fewer checkpoints while a job reads nothing.
 *
 * <p>Flink takes checkpoints at a second interval while a source reports a backlog. The sources of this package report
 * one while all of them are idle. A backlog has no other effect: the operators of the jobs ignore it.
 */
package io.tailrace.flink.idle;
