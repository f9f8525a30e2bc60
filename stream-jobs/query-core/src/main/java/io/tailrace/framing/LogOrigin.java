package io.tailrace.framing;

/**
 * The log that an entry comes from, and how to read it.
 *
 * @param cluster group of servers that contain the same data
 * @param instance name of the server
 * @param source kind of log, such as {@code slowlog} or {@code audit}
 * @param format name of a {@link LogFormat}, or {@code auto}
 * @param zone IANA zone of times that the log writes without a zone
 * @param log canonical path, without a rotation suffix
 */
public record LogOrigin(String cluster, String instance, String source, String format, String zone, String log) {}
