package io.tailrace.framing;

/**
 * One entry with its place: what a parser reads.
 *
 * @param origin the log it comes from
 * @param generation which file of the log, from 1
 * @param offset file offset of the entry's first byte
 * @param bytes holds the entry
 * @param from index of its first byte
 * @param to index after its last byte, line ends included
 * @param context what earlier entries say about it
 */
public record LogEntry(
        LogOrigin origin, long generation, long offset, byte[] bytes, int from, int to, EntryContext context) {}
