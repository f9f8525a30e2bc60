package io.tailrace.framing;

/**
 * One entry with its position: the input of a parser.
 *
 * @param origin the log that contains the entry
 * @param generation number of the log's file, from 1
 * @param offset file offset of the entry's first byte
 * @param bytes array that contains the entry
 * @param from index of its first byte
 * @param to index after its last byte, line ends included
 * @param context what earlier entries state about it
 */
public record LogEntry(
        LogOrigin origin, long generation, long offset, byte[] bytes, int from, int to, EntryContext context) {}
