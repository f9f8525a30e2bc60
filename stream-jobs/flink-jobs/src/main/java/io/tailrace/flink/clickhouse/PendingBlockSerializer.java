package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Serializes blocks in the state of an {@link AtLeastOnceWriter}. Version 1 contained rows without their layout, which
 * was the same in all versions of Tailrace that wrote it.
 */
final class PendingBlockSerializer implements SimpleVersionedSerializer<PendingBlock> {

    private static final int WITHOUT_LAYOUT = 1;
    private static final int VERSION = 2;

    private final String firstLayout;

    /** @param firstLayout layout of the rows of version 1 */
    PendingBlockSerializer(String firstLayout) {
        this.firstLayout = firstLayout;
    }

    @Override
    public int getVersion() {
        return VERSION;
    }

    @Override
    public byte[] serialize(PendingBlock block) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(block.frame().length + 1024);
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeUTF(block.token());
        write(block.layout().getBytes(StandardCharsets.UTF_8), out);
        out.writeInt(block.rows());
        out.writeInt(block.size());
        write(block.frame(), out);
        return bytes.toByteArray();
    }

    private static void write(byte[] bytes, DataOutputStream out) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    @Override
    public PendingBlock deserialize(int version, byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        return switch (version) {
            case WITHOUT_LAYOUT -> withoutLayout(in);
            case VERSION -> block(in);
            default -> throw new IOException("expected waiting rows of version " + WITHOUT_LAYOUT + " or " + VERSION
                    + ", found " + version + ": they were written by a later version of Tailrace");
        };
    }

    private static PendingBlock block(DataInputStream in) throws IOException {
        String token = in.readUTF();
        String layout = new String(read(in.readInt(), in), StandardCharsets.UTF_8);
        return new PendingBlock(token, layout, in.readInt(), in.readInt(), read(in.readInt(), in));
    }

    private static byte[] read(int length, DataInputStream in) throws IOException {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    /**
     * Reads the format of Flink's AsyncSinkWriterStateSerializer: a mark of 8 bytes, the number of rows, each with its
     * length.
     */
    private PendingBlock withoutLayout(DataInputStream in) throws IOException {
        in.readLong();
        BlockBuilder block = new BlockBuilder(firstLayout);
        for (int rows = in.readInt(); rows > 0; rows--) {
            int length = Math.toIntExact(in.readLong());
            block.add(new RowBlock(firstLayout, 0, 1, read(length, in)));
        }
        return block.seal();
    }
}
