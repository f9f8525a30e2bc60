/**
 * The model of compiled rules: rules over single events, correlations and exceptions, with what their compilation needs
 * to know about fields and placeholders. It depends on {@code sigma.yaml}: errors have positions, and a document names a
 * level.
 */
package io.tailrace.detection.sigma.rule;
