package io.tailrace.reassembly.ledger;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.EventId;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.event.Stage;
import io.tailrace.identity.DeadLetterId;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.ReassemblyOutput;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;

/** Creates the ledger rows and dead letters of one log. */
public final class LedgerWriter {

    private static final int RAW_LIMIT = 1 << 20;

    private final LogId id;
    private final String version;
    private final ReassemblyOutput output;
    private String cluster = "";
    private String path;
    private Instant now = Instant.EPOCH;

    public LedgerWriter(LogId id, String version, ReassemblyOutput output) {
        this.id = id;
        this.version = version;
        this.output = output;
        this.path = id.log();
    }

    public ReassemblyOutput output() {
        return output;
    }

    public LogId id() {
        return id;
    }

    public void at(long epochMillis) {
        now = Instant.ofEpochMilli(epochMillis);
    }

    /** Sets the origin of the bytes that follow. */
    public void origin(String ofCluster, String lastPath) {
        cluster = ofCluster;
        path = lastPath;
    }

    /** Creates a row with the fields that all kinds share; the others are 0. */
    public LedgerEntry row(long generation, PostingKind kind, String detail, long from, long to) {
        LedgerEntry row = new LedgerEntry();
        row.setCluster(cluster);
        row.setInstance(id.instance());
        row.setSource(id.source());
        row.setLog(id.log());
        row.setPath(path);
        row.setGeneration(generation);
        row.setStage(Stage.FRAMER);
        row.setKind(kind);
        row.setDetail(detail);
        row.setFromOffset(from);
        row.setToOffset(to);
        row.setAt(now);
        return row;
    }

    public void post(LedgerEntry row) {
        output.posting(row);
    }

    /** Writes a dead letter of the framer and returns its id. */
    public EventId deadLetter(long generation, long offset, byte[] bytes, String code, String message) {
        EventId letterId =
                DeadLetterId.of(id.instance(), id.source(), offset, bytes, 0, bytes.length, Stage.FRAMER, code);
        output.deadLetter(row(letterId, generation, offset, bytes.length, bytes, code, message));
        return letterId;
    }

    /**
     * Marks a dead letter as superseded, because its bytes have become entries. The row replaces the first one and
     * contains no bytes.
     */
    public void supersede(EventId letterId, long generation, long offset, long length, String code) {
        DeadLetter row = row(letterId, generation, offset, length, new byte[0], code, "superseded by a filled gap");
        row.setSuperseded(true);
        output.deadLetter(row);
    }

    private DeadLetter row(
            EventId letterId, long generation, long offset, long length, byte[] bytes, String code, String message) {
        DeadLetter row = new DeadLetter();
        row.setDeadLetterId(letterId);
        row.setCluster(cluster);
        row.setInstance(id.instance());
        row.setSource(id.source());
        row.setLog(id.log());
        row.setGeneration(generation);
        row.setEntryOffset(offset);
        row.setEntryBytes(length);
        row.setStage(Stage.FRAMER);
        row.setCode(code);
        row.setMessage(message);
        row.setRaw(ByteBuffer.wrap(bytes.length > RAW_LIMIT ? Arrays.copyOf(bytes, RAW_LIMIT) : bytes));
        row.setSeenAt(now);
        row.setVersion(version);
        return row;
    }
}
