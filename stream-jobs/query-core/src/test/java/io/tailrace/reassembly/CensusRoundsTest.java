package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.framing.DeadLetterCode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the rounds of the census post, and when they show that a file is gone. */
class CensusRoundsTest {

    private static final String PATH = PlainLog.PATH;
    private static final String RENAMED = PATH + ".1";
    private static final String FILE = "E one;\nE two;\n";
    private static final String NEW_FILE = "E other;\n";

    private final PlainLog log = new PlainLog(ReassemblyLimits.defaults());

    private List<String> posted() {
        return log.output.postings.stream()
                .filter(row -> row.getKind() == PostingKind.CENSUS)
                .map(row -> "%d %s: %d bytes, generation %d"
                        .formatted(row.getAt().toEpochMilli(), row.getPath(), row.getSize(), row.getGeneration()))
                .toList();
    }

    @Test
    void aFileIsPostedOnceAMinuteAndWhenItChanges() {
        log.census(PATH, 1, "", 60_000);
        log.census(PATH, 1, "", 119_999);
        log.census(PATH, 1, "", 120_000);
        log.census(PATH, 1, FILE, 130_000);
        log.census(PATH, 1, FILE, 140_000);
        log.restart(140_000);
        log.lines(0, FILE, 141_000);
        log.census(PATH, 1, FILE, 150_000);
        log.census(PATH, 1, FILE, 160_000);
        assertThat(posted())
                .containsExactly(
                        "60000 /slow.log: 0 bytes, generation 0",
                        "120000 /slow.log: 0 bytes, generation 0",
                        "130000 /slow.log: 14 bytes, generation 0",
                        "150000 /slow.log: 14 bytes, generation 1");
    }

    @Test
    void aRecordThatArrivesLateIsPostedForItsMinute() {
        log.census(PATH, 1, FILE, 120_000);
        log.census(PATH, 1, FILE, 120_000);
        log.census(PATH, 1, FILE, 60_000);
        assertThat(posted())
                .containsExactly("120000 /slow.log: 14 bytes, generation 0", "60000 /slow.log: 14 bytes, generation 0");
    }

    @Test
    void aCompressedFileIsNotCounted() {
        log.census(PATH + ".2.gz", 3, "x", 60_000);
        assertThat(posted()).isEmpty();
    }

    /**
     * Delivers rounds, ten seconds apart, in which the renamed file is listed or not. Each ends when the next one
     * starts.
     */
    private void rounds(long from, boolean... listed) {
        long at = from;
        for (boolean isListed : listed) {
            log.census(PATH, 2, NEW_FILE, at);
            if (isListed) {
                log.census(RENAMED, 1, FILE, at);
            }
            log.tick(at);
            at += 10_000;
        }
    }

    /** Returns the inode that the newest row of the first file names. */
    private long inode() {
        return log.output.frontiers().get(1L).getInode();
    }

    private void readFile() {
        log.lines(0, FILE, 1_000);
        log.census(PATH, 1, FILE, 2_000);
        log.tick(3_000);
        assertThat(inode()).isEqualTo(1);
        assertThat(log.output.frontiers().get(1L).getSize()).isEqualTo(FILE.length());
    }

    @Test
    void aRenamedFileEndsAMinuteAfterItsLastChange() {
        String file = FILE + "E pending\n";
        log.lines(0, file, 1_000);
        log.census(PATH, 1, FILE, 500);
        log.census(RENAMED, 1, file, 2_000);
        log.census(PATH, 2, NEW_FILE, 2_000);
        log.census(RENAMED, 1, file, 61_999);
        log.tick(61_999);
        assertThat(log.output.deadLetters).isEmpty();
        log.census(RENAMED, 1, file, 62_000);
        log.tick(62_000);
        assertThat(log.output.deadLetters)
                .extracting(DeadLetter::getCode)
                .containsExactly(DeadLetterCode.INCOMPLETE.name());
    }

    /** Between the rename and the new file, the server still writes to the old one. */
    @Test
    void aRenamedFileDoesNotEndWhileTheLogHasNoNewFile() {
        String file = FILE + "E pending\n";
        log.lines(0, file, 1_000);
        log.census(RENAMED, 1, file, 2_000);
        log.census(RENAMED, 1, file, 200_000);
        log.tick(200_000);
        assertThat(log.output.deadLetters).isEmpty();
    }

    @Test
    void aRenamedFileOfWhichNoLineArrivedIsLost() {
        rounds(10_000, true, true, true, true, true, true);
        log.tick(61_000);
        assertThat(log.output.frontiers()).isEmpty();
        rounds(70_000, true);
        log.tick(71_000);
        assertThat(log.output.remaining(1))
                .containsExactly(new CollectedOutput.Piece(PostingKind.GAP, "tail_lost", 0, FILE.length()));
        assertThat(inode()).isEqualTo(1);
    }

    /** After an outage the censuses arrive together, and the lines may arrive after them. */
    @Test
    void aRenamedFileIsNotLostBeforeItsLinesHadTimeToArrive() {
        for (long at = 10_000; at <= 100_000; at += 10_000) {
            log.census(PATH, 2, NEW_FILE, at, 100_000);
            log.census(RENAMED, 1, FILE, at, 100_000);
        }
        log.tick(129_999);
        assertThat(log.output.frontiers()).isEmpty();
        log.tick(130_000);
        assertThat(log.output.frontiers()).isNotEmpty();
    }

    @Test
    void aFileThatOneRoundDoesNotListIsNotGone() {
        readFile();
        rounds(10_000, true, true, false, true, false, true);
        assertThat(inode()).isEqualTo(1);
    }

    @Test
    void aFileThatTwoRoundsDoNotListIsGone() {
        readFile();
        rounds(10_000, true, false, false, false);
        assertThat(inode()).isEqualTo(1);
        rounds(50_000, false);
        assertThat(inode()).isZero();
    }

    @Test
    void aFileThatReturnsUnchangedIsTheSame() {
        readFile();
        rounds(10_000, true, false, false, false, false);
        log.restart(55_000);
        rounds(60_000, true, true);
        assertThat(inode()).isEqualTo(1);
        assertThat(log.output.postings).extracting(LedgerEntry::getGeneration).doesNotContain(2L);
    }

    @Test
    void aShorterFileWithTheInodeIsAnother() {
        readFile();
        rounds(10_000, true, false, false, false, false);
        log.census(RENAMED, 1, "E new;\n", 60_000);
        log.tick(62_000);
        assertThat(inode()).isZero();
    }

    /** The file had no byte more after the lines were read, so they are of a file that no census has found. */
    @Test
    void linesBeyondTheEndOfTheFileAreNotAppendedToIt() {
        readFile();
        log.census(PATH, 1, FILE, 5_000);
        log.lines(FILE.length(), "E more;\n", 4_000, 5_000);
        log.census(PATH, 1, FILE, 40_000);
        log.tick(40_000);
        assertThat(log.output.bytes(1, PostingKind.ENTRY)).isEqualTo(FILE.length());
        assertThat(log.output.deadLetters)
                .extracting(DeadLetter::getCode)
                .containsExactly(DeadLetterCode.OFFSET_CONFLICT.name());
    }
}
