package io.tailrace.clickhouse;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.EventId;
import io.tailrace.event.Stage;
import io.tailrace.framing.DeadLetterCode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.UUID;

/**
 * Turns a block that ClickHouse refuses for its data into a block of dead letters that hold its RowBinary bytes.
 *
 * <p>A refused block is never cut into smaller ones to save its good rows: the parts would need tokens of their own,
 * and a restart between them would store rows twice. The dead letters' token follows from the refused block's, so
 * they too are stored once.
 */
final class BlockQuarantine {

    private static final String TOKEN_SUFFIX = "-refused";
    private static final int CHUNK_BYTES = 1 << 20;

    private final RowEncoder encoder;
    private final Clock clock;
    private final String version;

    BlockQuarantine(String deadLetterTable, Clock clock, String version) {
        this.encoder = new RowEncoder(deadLetterTable, DeadLetter.getClassSchema());
        this.clock = clock;
        this.version = version;
    }

    /** Whether the block came out of a quarantine itself. */
    static boolean isQuarantined(PendingBlock block) {
        return block.token().endsWith(TOKEN_SUFFIX);
    }

    /** One dead letter per MiB of the block's rows; their {@code entry_offset} orders them. */
    PendingBlock quarantine(PendingBlock refused, String reason, long afterCheckpoint) {
        byte[] rows = OpenBlock.rowsOf(refused);
        DeadLetter letter = letter(refused, reason);
        RowBuffer out = new RowBuffer(rows.length + 1024);
        int count = 0;
        for (int from = 0; from < rows.length; from += CHUNK_BYTES) {
            int length = Math.min(CHUNK_BYTES, rows.length - from);
            letter.setDeadLetterId(id(refused, from));
            letter.setEntryOffset(from);
            letter.setEntryBytes(length);
            letter.setRaw(ByteBuffer.wrap(rows, from, length));
            encoder.encode(letter, afterCheckpoint, out);
            count++;
        }
        OpenBlock block = new OpenBlock(encoder.layout().text());
        block.add(new RowBlock(encoder.layout().text(), encoder.day(letter), count, out.toByteArray()));
        return block.seal(refused.token() + TOKEN_SUFFIX);
    }

    private DeadLetter letter(PendingBlock refused, String reason) {
        DeadLetter letter = new DeadLetter();
        letter.setCluster("");
        letter.setInstance("");
        letter.setSource("");
        letter.setLog("");
        letter.setStage(Stage.SINK);
        letter.setCode(DeadLetterCode.REFUSED_BY_STORE.name());
        letter.setMessage("ClickHouse refuses a block of " + refused.rows() + " rows: " + reason);
        letter.setSeenAt(clock.instant());
        letter.setVersion(version);
        return letter;
    }

    private static EventId id(PendingBlock refused, int from) {
        byte[] name = (refused.token() + ':' + from).getBytes(StandardCharsets.UTF_8);
        UUID uuid = UUID.nameUUIDFromBytes(name);
        return new EventId(ByteBuffer.allocate(16)
                .putLong(uuid.getMostSignificantBits())
                .putLong(uuid.getLeastSignificantBits())
                .array());
    }
}
