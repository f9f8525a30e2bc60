package io.tailrace.flink.clickhouse;

import io.tailrace.clickhouse.PendingBlock;
import io.tailrace.event.DeadLetter;
import io.tailrace.event.EventId;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.event.Stage;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.identity.DeadLetterId;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.specific.SpecificRecord;

/**
 * Converts rows that ClickHouse refuses to dead letters, and creates the postings that keep the ledger balanced.
 *
 * <ul>
 * <li>An event becomes a dead letter of the stage SINK with its position in its file. It is posted as a dead letter,
 * and its posting as an event is reversed.
 * <li>A dead letter keeps its stage and code, without {@code raw}: its posting remains valid.
 * <li>Any other row becomes a dead letter of the stage SINK that belongs to no file (generation 0) and is posted as
 * one. If the row was a posting itself, the ledger shows an imbalance.
 * </ul>
 *
 * <p>{@code raw} of a dead letter of the stage SINK is the row as RowBinary.
 */
final class RefusedRowConverter {

    private static final int MAX_RAW_BYTES = 1 << 20;
    private static final String CODE = DeadLetterCode.REFUSED_BY_STORE.name();

    private final RowBinaryEncoder letterEncoder;
    private final RowBinaryEncoder postingEncoder;
    private final Clock clock;
    private final String version;

    RefusedRowConverter(String database, Clock clock, String version) {
        this.letterEncoder = new RowBinaryEncoder(database + ".dead_letters", DeadLetter.getClassSchema());
        this.postingEncoder = new RowBinaryEncoder(database + ".ledger", LedgerEntry.getClassSchema());
        this.clock = clock;
        this.version = version;
    }

    /**
     * Returns dead letters and postings in place of a block's rows.
     *
     * @param reason reason of the refusal; contains no data
     * @param afterCheckpoint the newest checkpoint, which still contains the refused block
     */
    List<RowBlock> convertToDeadLetters(PendingBlock refused, String reason, long afterCheckpoint) {
        RowLayout layout = RowLayout.parse(refused.layout());
        RowBinaryReader row = new RowBinaryReader(layout, BlockBuilder.rowsOf(refused));
        String message = "ClickHouse refuses this row of " + reason;
        List<DeadLetter> letters = new ArrayList<>();
        List<LedgerEntry> postings = new ArrayList<>();
        Instant now = clock.instant();
        while (row.next()) {
            DeadLetter letter = row.has("dead_letter_id") ? ofLetter(row) : ofRow(row);
            letter.setMessage(message);
            letter.setSeenAt(now);
            letter.setVersion(version);
            letters.add(letter);
            postings.addAll(postings(letter));
        }
        List<RowBlock> blocks = new ArrayList<>();
        blocks.add(block(letterEncoder, letters, afterCheckpoint));
        if (!postings.isEmpty()) {
            blocks.add(block(postingEncoder, postings, afterCheckpoint));
        }
        return blocks;
    }

    private static DeadLetter ofLetter(RowBinaryReader row) {
        DeadLetter letter = at(row, row.number("generation"));
        letter.setDeadLetterId(new EventId(row.uuid("dead_letter_id")));
        letter.setEntryOffset(row.number("entry_offset"));
        letter.setEntryBytes(row.number("entry_bytes"));
        letter.setStage(Stage.valueOf(row.text("stage")));
        letter.setCode(row.text("code"));
        letter.setRaw(ByteBuffer.allocate(0));
        letter.setSuperseded(row.flag("superseded"));
        return letter;
    }

    private static DeadLetter ofRow(RowBinaryReader row) {
        boolean isEvent = row.has("entry_bytes");
        DeadLetter letter = at(row, isEvent ? row.number("generation") : 0);
        byte[] raw = row.row();
        letter.setDeadLetterId(DeadLetterId.of(
                letter.getInstance(),
                letter.getSource(),
                row.number("entry_offset"),
                raw,
                0,
                raw.length,
                Stage.SINK,
                CODE));
        letter.setEntryOffset(row.number("entry_offset"));
        letter.setEntryBytes(row.number("entry_bytes"));
        letter.setStage(Stage.SINK);
        letter.setCode(CODE);
        letter.setRaw(ByteBuffer.wrap(raw, 0, Math.min(raw.length, MAX_RAW_BYTES)));
        return letter;
    }

    private static DeadLetter at(RowBinaryReader row, long generation) {
        DeadLetter letter = new DeadLetter();
        letter.setCluster(row.text("cluster"));
        letter.setInstance(row.text("instance"));
        letter.setSource(row.text("source"));
        letter.setLog(row.text("log"));
        letter.setGeneration(generation);
        return letter;
    }

    private static List<LedgerEntry> postings(DeadLetter letter) {
        if (letter.getStage() != Stage.SINK) {
            return List.of();
        }
        LedgerEntry dead = posting(letter, Stage.SINK, PostingKind.DEAD_LETTER, 1);
        dead.setDetail(CODE);
        return letter.getGeneration() == 0
                ? List.of(dead)
                : List.of(posting(letter, Stage.PARSER, PostingKind.EVENT, -1), dead);
    }

    private static LedgerEntry posting(DeadLetter letter, Stage stage, PostingKind kind, int sign) {
        LedgerEntry posting = new LedgerEntry();
        posting.setCluster(letter.getCluster());
        posting.setInstance(letter.getInstance());
        posting.setSource(letter.getSource());
        posting.setLog(letter.getLog());
        posting.setPath("");
        posting.setGeneration(letter.getGeneration());
        posting.setStage(stage);
        posting.setKind(kind);
        posting.setDetail("");
        posting.setFromOffset(letter.getEntryOffset());
        posting.setToOffset(letter.getEntryOffset() + letter.getEntryBytes());
        posting.setCount(sign);
        posting.setBytes(sign * letter.getEntryBytes());
        posting.setAt(letter.getSeenAt());
        return posting;
    }

    private static RowBlock block(RowBinaryEncoder encoder, List<? extends SpecificRecord> rows, long afterCheckpoint) {
        RowBinaryBuffer out = new RowBinaryBuffer(1024);
        rows.forEach(row -> encoder.encode(row, afterCheckpoint, out));
        return new RowBlock(encoder.layout().text(), encoder.day(rows.get(0)), rows.size(), out.toByteArray());
    }
}
