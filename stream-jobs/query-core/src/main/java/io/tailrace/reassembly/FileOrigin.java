package io.tailrace.reassembly;

/**
 * The file that lines come from.
 *
 * @param key {@link LogId#toKey} of the log
 * @param cluster group of servers that hold the same data
 * @param instance name of the server
 * @param source kind of log: slowlog or audit
 * @param format name of a format, or auto
 * @param zone IANA zone of times that the log writes without a zone
 * @param path of the file as the collector saw it, rotation suffix included
 */
public record FileOrigin(
        String key, String cluster, String instance, String source, String format, String zone, String path) {}
