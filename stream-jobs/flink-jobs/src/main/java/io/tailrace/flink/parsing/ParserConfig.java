package io.tailrace.flink.parsing;

import io.tailrace.framing.LogFormats;
import java.io.Serializable;
import org.apache.flink.util.function.SerializableSupplier;

/**
 * The settings of the parser.
 *
 * @param formats known formats
 * @param queryTimes event times that {@code query_events} accepts
 * @param auditTimes event times that {@code audit_events} accepts
 * @param errorTimes event times that {@code error_events} accepts
 * @param version version of Tailrace, for dead letters
 */
public record ParserConfig(
        SerializableSupplier<LogFormats> formats,
        AcceptedTimeRange queryTimes,
        AcceptedTimeRange auditTimes,
        AcceptedTimeRange errorTimes,
        String version)
        implements Serializable {}
