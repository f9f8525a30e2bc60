package io.tailrace.reassembly;

/**
 * One watched file as reported by the census (schemas/census.schema.json).
 *
 * @param key {@link LogId#toKey} of the log
 * @param cluster group of servers that contain the same data
 * @param instance name of the server
 * @param source kind of log, such as {@code slowlog} or {@code audit}
 * @param path of the file, rotation suffix included
 * @param inode of the file
 * @param size in bytes
 * @param headLength number of the file's first bytes that were hashed, 0 to 4096
 * @param headHash MD5 of those bytes in hexadecimal
 * @param at time of the inspection, epoch microseconds of the collector's clock
 */
public record CensusRecord(
        String key,
        String cluster,
        String instance,
        String source,
        String path,
        long inode,
        long size,
        int headLength,
        String headHash,
        long at) {}
