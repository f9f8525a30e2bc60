package io.tailrace.reassembly;

/**
 * Consecutive lines of one file as a collector sent them.
 *
 * @param origin of the lines
 * @param offset file offset of the first byte, at a line start
 * @param bytes the file's bytes: whole lines, each with its line end. A collector strips the carriage return
 *     of a line end; it is put back wherever the next line's offset shows it, so only the last line of a
 *     block may lack it
 * @param readAt when the collector read the last line, epoch milliseconds of its clock; 0 when unknown
 * @param backfill the bytes are shipped again to fill a recorded gap; the last line may lack its line end
 * @param generation backfill only: the generation that holds the bytes; else 0
 */
public record LineBlock(FileOrigin origin, long offset, byte[] bytes, long readAt, boolean backfill, long generation) {

    /** File offset after the last byte. */
    public long end() {
        return offset + bytes.length;
    }
}
