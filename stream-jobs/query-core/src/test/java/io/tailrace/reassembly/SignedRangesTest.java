package io.tailrace.reassembly;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.SignedRange;
import io.tailrace.reassembly.content.HeadHash;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares signed ranges with the bytes of a log, whichever arrives first, and finds every change of a byte. */
class SignedRangesTest {

    private static final LogId ID = new LogId("db1", "slowlog", PlainLog.PATH);
    private static final int RANGE = 700;
    private static final long INODE = 7;
    private static final long START = 1_000_000;
    private static final long HOUR = 3_600_000;

    final PlainLog log = new PlainLog(
            new ReassemblyLimits(1 << 17, 30_000, 1 << 20, 512, 1 << 15, 1024, 1 << 14, 1L << 40, 16, RANGE));
    private final SigningHost host = new SigningHost(RANGE, rangesOfRecord());
    long now = START;

    /** Returns the number of ranges that a record signs at most. */
    int rangesOfRecord() {
        return 1;
    }

    SignedRangesTest another() {
        return new SignedRangesTest();
    }

    @Test
    void recordsAfterTheirBytesAreVerified() {
        String file = file(40, "\n", 1);
        send(file, 0, file.length());
        sign(file);
        assertThat(statuses()).isEqualTo(Map.of("verified", ranges(file)));
    }

    @Test
    void recordsBeforeTheirBytesWaitAlsoAcrossRestarts() {
        String file = file(40, "\n", 1);
        sign(file);
        assertThat(log.output.signedRanges).isEmpty();
        for (int from = 0; from < file.length(); from = lineEnd(file, from)) {
            log.restart(now);
            send(file, from, lineEnd(file, from));
        }
        tick(1_000);
        assertThat(statuses()).isEqualTo(Map.of("verified", ranges(file)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\n", "\r\n"})
    void anOpenRangeIsVerifiedUpToEachOfItsLines(String lineEnd) {
        String file = file(12, lineEnd, 2);
        for (int from = 0; from < file.length(); from = lineEnd(file, from)) {
            int to = lineEnd(file, from);
            log.lines(from, file.substring(from, to).replace("\r\n", "\n"), now);
            sign(file.substring(0, to));
        }
        assertThat(statuses().keySet()).containsExactly("verified");
    }

    @Test
    void everyChangeOfAByteIsAMismatch() {
        String file = file(60, "\n", 3);
        Random random = new Random(4);
        for (int i = 0; i < 60; i++) {
            int at = random.nextInt(file.length());
            if (file.charAt(at) == '\n') {
                continue;
            }
            String other = file.substring(0, at) + (char) (file.charAt(at) ^ 1) + file.substring(at + 1);
            SignedRangesTest run = another();
            run.send(other, 0, other.length());
            run.sign(file);
            run.passHour();
            SignedRange changed = run.results().stream()
                    .filter(range -> range.getFromOffset() <= at && at < range.getToOffset())
                    .findFirst()
                    .orElseThrow();
            assertThat(changed.getStatus()).as("the byte at %d", at).isEqualTo("mismatch");
        }
    }

    @Test
    void linesInAnotherOrderAreAMismatch() {
        String file = file(60, "\n", 5);
        int first = lineEnd(file, 5_000);
        int second = lineEnd(file, first);
        int third = lineEnd(file, second);
        String other = file.substring(0, first)
                + file.substring(second, third)
                + file.substring(first, second)
                + file.substring(third);
        send(other, 0, other.length());
        sign(file);
        assertThat(statuses()).containsEntry("mismatch", 1L);
    }

    @Test
    void bytesThatNeverArriveLeaveARangeUnverified() {
        String file = file(40, "\n", 6);
        send(file, 0, lineEnd(file, 1_000));
        sign(file.substring(0, lineEnd(file, 1_000)));
        sign(file);
        passHour();
        assertThat(statuses())
                .containsEntry("verified", 2L)
                .containsKey("unverified")
                .hasSize(2);
    }

    @Test
    void aGapIsIncompleteUntilABackfillFillsIt() {
        String file = file(60, "\n", 7);
        int lost = lineEnd(file, 3_000);
        int resume = lineEnd(file, 5_000);
        gap(file, lost, resume);
        assertThat(statuses()).containsKeys("verified", "incomplete").hasSize(2);
        log.restart(now);
        log.backfill(lost, file.substring(lost, resume), 1, now);
        tick(1_000);
        Map<Long, String> last = new TreeMap<>();
        results().forEach(range -> last.put(range.getFromOffset(), range.getStatus()));
        assertThat(last.values()).hasSize((int) ranges(file)).containsOnly("verified");
    }

    @Test
    void anotherByteInABackfillIsAMismatch() {
        String file = file(60, "\n", 7);
        int lost = lineEnd(file, 3_000);
        int resume = lineEnd(file, 5_000);
        gap(file, lost, resume);
        String other = file.substring(lost, resume).replace('x', 'y');
        log.backfill(lost, other, 1, now);
        tick(1_000);
        assertThat(statuses()).containsKey("mismatch");
    }

    @Test
    void aLostEmptyLineIsNoMismatchBecauseItMayBeACarriageReturn() {
        String file = file(12, "\n", 8);
        int at = lineEnd(file, 300);
        String withEmptyLine = file.substring(0, at) + "\n" + file.substring(at);
        log.census(PlainLog.PATH, INODE, withEmptyLine, now);
        send(file, 0, at);
        log.lines(at + 1, file.substring(at), now);
        log.census(PlainLog.PATH, INODE, withEmptyLine, now + 10_000);
        sign(withEmptyLine);
        assertThat(statuses()).containsKey("incomplete").doesNotContainKey("mismatch");
    }

    @Test
    void theFilesOfARotatedLogAreComparedByTheirHeads() {
        String first = file(30, "\n", 9);
        String second = file(30, "\n", 10);
        send(first, 0, first.length());
        log.census(PlainLog.PATH, INODE, first, now);
        tick(1_000);
        log.census(PlainLog.PATH + ".1", INODE, first, now);
        log.census(PlainLog.PATH, INODE + 1, second, now);
        send(second, 0, second.length());
        sign(second, INODE + 1);
        sign(first, INODE);
        tick(2_000);
        assertThat(statuses()).isEqualTo(Map.of("verified", ranges(first) + ranges(second)));
    }

    @Test
    void aSecondFileWithTheSameHeadDoesNotHideAMismatch() {
        String file = file(60, "\n", 12);
        int at = file.indexOf('x', 6_000);
        String other = file.substring(0, at) + 'y' + file.substring(at + 1);
        int head = lineEnd(file, 0);
        String decoy = file.substring(0, head) + file(10, "\n", 13).substring(head);
        send(other, 0, other.length());
        log.census(PlainLog.PATH, INODE, other, now);
        tick(1_000);
        log.census(PlainLog.PATH + ".1", INODE, other, now);
        log.census(PlainLog.PATH, INODE + 1, decoy, now);
        send(decoy, 0, decoy.length());
        String hash = HeadHash.hex(file.getBytes(ISO_8859_1), head);
        for (SignedRange range : host.sign(ID, PlainLog.PATH, INODE, file.getBytes(ISO_8859_1), false, now)) {
            range.setHeadLength(head);
            range.setHeadHash(hash);
            log.signedRange(range, now);
        }
        assertThat(statuses()).doesNotContainKey("mismatch");
        passHour();
        assertThat(statuses()).isEqualTo(Map.of("mismatch", 1L, "verified", ranges(file) - 1));
    }

    @Test
    void aLogWithoutSignedRangesReportsNothingAndNeedsNoTimer() {
        String file = file(60, "\n", 11);
        send(file, 0, file.length());
        passHour();
        assertThat(log.output.signedRanges).isEmpty();
        assertThat(log.nextTick(now)).isGreaterThan(now + HOUR);
    }

    /** Loses the bytes {@code [lost, resume)} of a file, and waits until they are a gap. */
    void gap(String file, int lost, int resume) {
        log.census(PlainLog.PATH, INODE, file, now);
        send(file, 0, lost);
        sign(file);
        send(file, resume, file.length());
        log.restart(now);
        for (int i = 0; i < 4; i++) {
            now += 20_000;
            log.census(PlainLog.PATH, INODE, file, now);
            log.tick(now);
        }
    }

    void send(String file, int from, int to) {
        log.lines(from, file.substring(from, to), now);
    }

    void sign(String file) {
        sign(file, INODE);
    }

    private void sign(String file, long inode) {
        for (SignedRange range : host.sign(ID, PlainLog.PATH, inode, file.getBytes(ISO_8859_1), false, now)) {
            log.signedRange(range, now);
        }
    }

    void tick(long millis) {
        now += millis;
        log.tick(now);
    }

    /** Passes an hour by both clocks. */
    void passHour() {
        now += HOUR;
        log.census(PlainLog.PATH + ".9", 99, "B another file\n", now);
        log.tick(now);
    }

    Map<String, Long> statuses() {
        Map<String, Long> statuses = new TreeMap<>();
        results().forEach(range -> statuses.merge(range.getStatus(), 1L, Long::sum));
        return statuses;
    }

    /** Returns the result of each range in the order of the rows, which may cover several. */
    List<SignedRange> results() {
        List<SignedRange> results = new ArrayList<>();
        log.output.signedRanges.forEach(row -> results.addAll(host.rangesOf(row)));
        return results;
    }

    List<SignedRange> rows() {
        return log.output.signedRanges;
    }

    static long ranges(String file) {
        return new SigningHost(RANGE, 1)
                .sign(ID, PlainLog.PATH, INODE, file.getBytes(ISO_8859_1), false, 0)
                .size();
    }

    static int lineEnd(String file, int from) {
        return file.indexOf('\n', from) + 1;
    }

    static String file(int entries, String lineEnd, long seed) {
        Random random = new Random(seed);
        List<String> lines = new ArrayList<>(List.of("B server " + seed));
        for (int i = 0; i < entries; i++) {
            lines.add("E entry " + i + " x" + "e".repeat(random.nextInt(60)));
            lines.add(" body x" + "b".repeat(random.nextInt(200)) + ";");
        }
        return String.join(lineEnd, lines) + lineEnd;
    }
}
