/**
 * Compiles files of Sigma rules into a rule set: reads each document as a rule, correlation, filter or exception, and
 * then resolves the references between them. The entry is {@link io.tailrace.detection.sigma.reader.RuleSetReader}.
 */
package io.tailrace.detection.sigma.reader;
