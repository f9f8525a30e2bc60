package io.tailrace.flink.parsing;

import io.tailrace.framing.LogFormats;
import java.io.Serializable;
import org.apache.flink.util.function.SerializableSupplier;

/**
 * How entries are parsed.
 *
 * @param formats the formats that are known
 * @param queryTimes event times that {@code query_events} takes
 * @param auditTimes event times that {@code audit_events} takes
 * @param errorTimes event times that {@code error_events} takes
 * @param version of Tailrace, for dead letters
 */
public record ParserConfig(
        SerializableSupplier<LogFormats> formats,
        AcceptedTimeRange queryTimes,
        AcceptedTimeRange auditTimes,
        AcceptedTimeRange errorTimes,
        String version)
        implements Serializable {}
