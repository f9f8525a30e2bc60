package io.tailrace.framing;

/**
 * Where a log comes from.
 *
 * @param cluster group of servers that hold the same data
 * @param instance name of the server
 * @param source kind of log: slowlog or audit
 * @param format name of a {@link LogFormat}, or auto
 * @param zone IANA zone of times that the log writes without a zone
 * @param log canonical path: without rotation suffix
 */
public record LogOrigin(String cluster, String instance, String source, String format, String zone, String log) {}
