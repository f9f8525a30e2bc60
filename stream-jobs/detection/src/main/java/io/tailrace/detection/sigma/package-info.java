/**
 * The compiler for Sigma rules. Its packages depend on each other in one direction: {@code sigma.yaml} reads documents,
 * {@code sigma.rule} is the model of compiled rules, {@code sigma.search} compiles searches into conditions on an event,
 * and {@code sigma.reader} compiles files into a rule set. It depends on {@code detection.event} and {@code
 * detection.match}, and on no other package of detection.
 */
package io.tailrace.detection.sigma;
