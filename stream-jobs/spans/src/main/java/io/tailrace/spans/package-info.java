/**
 * Spans of OpenTelemetry: from a message of the Collector's Kafka exporter to records of the table {@code otel_traces}.
 * Knows neither Flink nor Kafka. docs/TRACES.md says what is read, joined and masked.
 */
package io.tailrace.spans;
