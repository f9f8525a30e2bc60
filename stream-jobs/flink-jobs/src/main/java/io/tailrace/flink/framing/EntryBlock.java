package io.tailrace.flink.framing;

import io.tailrace.framing.EntryContext;
import io.tailrace.framing.LogOrigin;
import io.tailrace.reassembly.FramedEntry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.apache.flink.core.memory.DataInputDeserializer;

/**
 * Entries of one log on their way to a parser, in one array: between subtasks a record costs much more than its bytes,
 * and names that thousands of entries share are sent and decoded once.
 *
 * @param bytes format of {@link EntryBlockWriter}; never stored, only sent between two operators
 */
public record EntryBlock(byte[] bytes) {

    /** Number of texts of an entry that the next one usually shares. */
    static final int TEXTS = 10;

    static final int FORGED_HEADER = 1;
    static final int AMBIGUOUS = 1 << 1;
    static final int BACKFILL = 1 << 2;
    static final int LOGGED_IN = 1 << 3;

    /** Passes the entries in their order. */
    public void forEach(Consumer<FramedEntry> entries) {
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        String[] texts = new String[TEXTS];
        try {
            while (in.available() > 0) {
                entries.accept(read(in, texts));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("a block of entries cannot be decoded", e);
        }
    }

    private static FramedEntry read(DataInputDeserializer in, String[] texts) throws IOException {
        int marks = in.readByte();
        int changed = in.readShort();
        for (int i = 0; i < TEXTS; i++) {
            if ((changed & 1 << i) != 0) {
                texts[i] = new String(readBytes(in), StandardCharsets.UTF_8);
            }
        }
        return new FramedEntry(
                new LogOrigin(texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]),
                texts[6],
                in.readLong(),
                in.readLong(),
                readBytes(in),
                new EntryContext(
                        texts[7],
                        texts[8],
                        texts[9],
                        (marks & LOGGED_IN) != 0,
                        (marks & FORGED_HEADER) != 0,
                        (marks & AMBIGUOUS) != 0),
                (marks & BACKFILL) != 0);
    }

    private static byte[] readBytes(DataInputDeserializer in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }
}
