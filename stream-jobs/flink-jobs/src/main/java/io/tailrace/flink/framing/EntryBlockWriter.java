package io.tailrace.flink.framing;

import io.tailrace.framing.EntryContext;
import io.tailrace.framing.LogOrigin;
import io.tailrace.reassembly.FramedEntry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Combines entries into blocks. Not thread-safe. */
public final class EntryBlockWriter {

    /** Size at which a block is emitted, in bytes: several per block of lines, so that parsers share them. */
    static final int BLOCK_BYTES = 32 << 10;

    private static final int MAX_KEPT = 16 * BLOCK_BYTES;

    private final Consumer<EntryBlock> out;
    private DataOutputSerializer block = new DataOutputSerializer(2 * BLOCK_BYTES);
    private String[] last = new String[EntryBlock.TEXTS];

    public EntryBlockWriter(Consumer<EntryBlock> out) {
        this.out = out;
    }

    /** Adds an entry, and emits the block when it is full. */
    public void add(FramedEntry entry) {
        try {
            write(entry);
        } catch (IOException e) {
            throw new UncheckedIOException("an entry of " + entry.bytes().length + " bytes is too long", e);
        }
        if (block.length() >= BLOCK_BYTES) {
            flush();
        }
    }

    private void write(FramedEntry entry) throws IOException {
        String[] texts = texts(entry);
        int changed = 0;
        for (int i = 0; i < texts.length; i++) {
            changed |= texts[i].equals(last[i]) ? 0 : 1 << i;
        }
        block.writeByte(marks(entry));
        block.writeShort(changed);
        for (int i = 0; i < texts.length; i++) {
            if (!texts[i].equals(last[i])) {
                writeBytes(texts[i].getBytes(StandardCharsets.UTF_8));
            }
        }
        last = texts;
        block.writeLong(entry.generation());
        block.writeLong(entry.offset());
        writeBytes(entry.bytes());
    }

    private static String[] texts(FramedEntry entry) {
        LogOrigin origin = entry.origin();
        EntryContext context = entry.context();
        return new String[] {
            origin.cluster(),
            origin.instance(),
            origin.source(),
            origin.format(),
            origin.zone(),
            origin.log(),
            entry.path(),
            context.database(),
            context.timeLine(),
            context.account()
        };
    }

    private static int marks(FramedEntry entry) {
        EntryContext context = entry.context();
        return (context.forgedHeader() ? EntryBlock.FORGED_HEADER : 0)
                | (context.ambiguous() ? EntryBlock.AMBIGUOUS : 0)
                | (entry.backfill() ? EntryBlock.BACKFILL : 0)
                | (context.loggedIn() ? EntryBlock.LOGGED_IN : 0);
    }

    private void writeBytes(byte[] bytes) throws IOException {
        block.writeInt(bytes.length);
        block.write(bytes);
    }

    /** Emits the open block. */
    public void flush() {
        if (block.length() > 0) {
            out.accept(new EntryBlock(block.getCopyOfBuffer()));
            block.clear();
            last = new String[EntryBlock.TEXTS];
            if (block.getSharedBuffer().length > MAX_KEPT) {
                block = new DataOutputSerializer(2 * BLOCK_BYTES);
            }
        }
    }
}
