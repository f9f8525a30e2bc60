/**
 * Converts messages of the OpenTelemetry Collector's Kafka exporter into records of the table {@code otel_traces}.
 * The package does not depend on Flink or Kafka. docs/TRACES.md documents what is read, joined and masked.
 */
package io.tailrace.spans;
