package io.tailrace.reassembly.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.reassembly.FramedEntry;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.ReassemblyOutput;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Adjoining postings become one row of the ledger, and no item or byte is lost. */
class PostingBufferTest implements ReassemblyOutput {

    private static final long GENERATION = 7;

    private final List<LedgerEntry> rows = new ArrayList<>();
    private final List<DeadLetter> letters = new ArrayList<>();
    private final LedgerWriter poster = new LedgerWriter(LogId.of("db1", "slowlog", "/l/slow.log.1"), "1.2", this);
    private final PostingBuffer postings = new PostingBuffer();

    @BeforeEach
    void begin() {
        poster.at(1_000);
        poster.origin("shop", "/l/slow.log.1");
    }

    @Test
    void adjoiningPiecesOfOneKindAreOneRow() {
        postings.add(PostingKind.ENTRY, "", 0, 100, 1);
        postings.add(PostingKind.ENTRY, "", 100, 250, 2);
        postings.add(PostingKind.ENTRY, "", 300, 310, 1);
        postings.add(PostingKind.FRAMING, "BANNER", 310, 400, 1);
        postings.add(PostingKind.FRAMING, "BLANK", 400, 401, 1);

        assertThat(flushed())
                .containsExactly(
                        "ENTRY  0-250: 3, 250 bytes",
                        "ENTRY  300-310: 1, 10 bytes",
                        "FRAMING BANNER 310-400: 1, 90 bytes",
                        "FRAMING BLANK 400-401: 1, 1 bytes");
    }

    @Test
    void reversalsAreSeparateRows() {
        postings.add(PostingKind.ENTRY, "", 0, 100, 1);
        postings.reverse(PostingKind.ENTRY, "", 0, 100);
        postings.add(PostingKind.ENTRY, "", 100, 130, 1);

        assertThat(flushed())
                .containsExactly(
                        "ENTRY  0-100: 1, 100 bytes", "ENTRY  0-100: -1, -100 bytes", "ENTRY  100-130: 1, 30 bytes");
    }

    @Test
    void theBufferIsEmptyBeforePostingsAndAfterFlush() {
        assertThat(postings.isEmpty()).isTrue();
        postings.add(PostingKind.ENTRY, "", 0, 100, 1);
        assertThat(postings.isEmpty()).isFalse();
        assertThat(flushed()).hasSize(1);
        assertThat(postings.isEmpty()).isTrue();
        assertThat(flushed()).isEmpty();
    }

    @Test
    void rowsIdentifyTheirLog() {
        postings.add(PostingKind.ENTRY, "", 0, 100, 1);
        postings.flush(poster, GENERATION);

        assertThat(rows).singleElement().satisfies(row -> {
            assertThat(List.of(row.getCluster(), row.getInstance(), row.getSource(), row.getLog(), row.getPath()))
                    .containsExactly("shop", "db1", "slowlog", "/l/slow.log", "/l/slow.log.1");
            assertThat(row.getGeneration()).isEqualTo(GENERATION);
            assertThat(row.getAt()).isEqualTo(Instant.ofEpochMilli(1_000));
        });
    }

    @Test
    void aDeadLetterHasItsBytesAndTheVersion() {
        var id = poster.deadLetter(GENERATION, 40, new byte[] {1, 2, 3}, "STRAY_TEXT", "expected an entry");
        poster.supersede(id, GENERATION, 40, 3, "STRAY_TEXT");

        assertThat(letters).hasSize(2).allSatisfy(letter -> {
            assertThat(letter.getDeadLetterId()).isEqualTo(id);
            assertThat(List.of(letter.getCluster(), letter.getInstance(), letter.getSource(), letter.getLog()))
                    .containsExactly("shop", "db1", "slowlog", "/l/slow.log");
            assertThat(List.of(letter.getGeneration(), letter.getEntryOffset(), letter.getEntryBytes()))
                    .containsExactly(GENERATION, 40L, 3L);
            assertThat(letter.getCode()).isEqualTo("STRAY_TEXT");
            assertThat(letter.getVersion()).isEqualTo("1.2");
        });
        assertThat(letters).extracting(letter -> letter.getRaw().remaining()).containsExactly(3, 0);
        assertThat(letters).extracting(DeadLetter::getSuperseded).containsExactly(false, true);
    }

    @Test
    void aDeadLetterHasAtMostAMegabyteOfItsBytes() {
        for (int bytes : List.of(1 << 20, (1 << 20) + 1)) {
            poster.deadLetter(GENERATION, 0, new byte[bytes], "STRAY_TEXT", "expected an entry");
        }
        assertThat(letters).extracting(DeadLetter::getEntryBytes).containsExactly(1L << 20, (1L << 20) + 1);
        assertThat(letters).extracting(letter -> letter.getRaw().remaining()).containsExactly(1 << 20, 1 << 20);
    }

    private List<String> flushed() {
        rows.clear();
        postings.flush(poster, GENERATION);
        return rows.stream()
                .map(row -> "%s %s %d-%d: %d, %d bytes"
                        .formatted(
                                row.getKind(),
                                row.getDetail(),
                                row.getFromOffset(),
                                row.getToOffset(),
                                row.getCount(),
                                row.getBytes()))
                .toList();
    }

    @Override
    public void entry(FramedEntry entry) {
        throw new AssertionError("expected no entry");
    }

    @Override
    public void posting(LedgerEntry posting) {
        rows.add(posting);
    }

    @Override
    public void deadLetter(DeadLetter deadLetter) {
        letters.add(deadLetter);
    }
}
