package io.tailrace.reassembly;

/**
 * The file that lines come from.
 *
 * @param key {@link LogId#toKey} of the log
 * @param cluster group of servers that contain the same data
 * @param instance name of the server
 * @param source kind of log, such as {@code slowlog} or {@code audit}
 * @param format name of a format, or {@code auto}
 * @param zone IANA zone of times that the log writes without a zone
 * @param path of the file as reported by the collector, rotation suffix included
 */
public record FileOrigin(
        String key, String cluster, String instance, String source, String format, String zone, String path) {}
