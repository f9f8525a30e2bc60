/**
 * Reads the formats of plans into the model of {@code io.tailrace.plan}, and masks the literals in them. Entries are
 * {@link io.tailrace.plan.reader.PlanReader} for a JSON document, {@link io.tailrace.plan.reader.TabularPlanReader} for
 * rows, and {@link io.tailrace.plan.reader.PlanDocuments} for a file with several plans. It depends on the model, on
 * {@code plan.json}, and on the masking of statements.
 */
package io.tailrace.plan.reader;
