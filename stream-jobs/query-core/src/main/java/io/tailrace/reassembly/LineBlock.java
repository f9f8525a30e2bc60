package io.tailrace.reassembly;

/**
 * Consecutive lines of one file, as a collector sent them.
 *
 * @param origin of the lines
 * @param offset file offset of the first byte, at a line start
 * @param bytes the file's bytes: whole lines with their line ends. A collector strips the carriage return of a line
 *     end; it is restored if the next line's offset proves it, so only the last line of a block may lack it
 * @param readAt time at which the collector read the last line, epoch milliseconds of its clock; 0 if unknown
 * @param backfill whether the bytes are shipped again to fill a recorded gap; then the last line may lack its line
 *     end
 * @param generation for a backfill, the generation that contains the bytes; otherwise 0
 */
public record LineBlock(FileOrigin origin, long offset, byte[] bytes, long readAt, boolean backfill, long generation) {

    /** Returns the file offset after the last byte. */
    public long end() {
        return offset + bytes.length;
    }
}
