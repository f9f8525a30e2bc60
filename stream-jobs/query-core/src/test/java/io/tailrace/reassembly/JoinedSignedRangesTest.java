package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.SignedRange;
import io.tailrace.signing.EarlierRanges;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The same with records that sign several ranges: the result of each range is the same. */
class JoinedSignedRangesTest extends SignedRangesTest {

    @Override
    int rangesOfRecord() {
        return 4;
    }

    @Override
    SignedRangesTest another() {
        return new JoinedSignedRangesTest();
    }

    @Test
    void aRecordWhoseRangesAreAllEqualHasOneRow() {
        String file = file(40, "\n", 1);
        sign(file);
        for (int from = 0; from < file.length(); from = lineEnd(file, from)) {
            send(file, from, lineEnd(file, from));
        }
        tick(1_000);
        assertThat(rows()).hasSize((int) (ranges(file) + 3) / 4);
        assertThat(rows()).extracting(SignedRange::getEarlierRanges).containsOnly("");
        assertThat(rows().get(0).getFromOffset()).isZero();
        assertThat(rows().get(1).getFromOffset()).isEqualTo(rows().get(0).getToOffset());
    }

    @Test
    void aMismatchNamesTheRangeOfTheRecordAtOnce() {
        String file = file(60, "\n", 2);
        int at = file.indexOf('x', 5_000);
        String other = file.substring(0, at) + 'y' + file.substring(at + 1);
        sign(file);
        send(other, 0, lineEnd(file, 6_000));
        tick(1_000);
        List<SignedRange> rows = rows();
        assertThat(rows).extracting(SignedRange::getStatus).startsWith("verified", "verified", "mismatch");
        SignedRange changed = rows.get(2);
        assertThat(changed.getFromOffset()).isLessThanOrEqualTo(at);
        assertThat(changed.getToOffset()).isGreaterThan(at);
        assertThat(changed.getToOffset() - changed.getFromOffset()).isLessThan(1_500);
        log.restart(now);
        send(other, lineEnd(file, 6_000), file.length());
        tick(1_000);
        assertThat(statuses()).containsEntry("mismatch", 1L).containsEntry("verified", ranges(file) - 1);
    }

    @Test
    void closedRangesAreVerifiedAlsoIfTheOpenOneHasGrown() {
        String file = file(18, "\n", 3);
        String longer = file + file(20, "\n", 4);
        send(longer, 0, longer.length());
        sign(file);
        assertThat(statuses()).containsKeys("verified", "superseded").hasSize(2);
        assertThat(statuses()).containsEntry("superseded", 1L);
    }

    @Test
    void aClosedRangeThatWasNotComparedIsUnverifiedAlsoBehindAVerifiedOpenOne() {
        String file = file(40, "\n", 5);
        int open = lineEnd(file, 300);
        send(file, 0, open);
        sign(file.substring(0, open));
        assertThat(statuses()).isEqualTo(Map.of("verified", 1L));
        send(file, open, file.length());
        SignedRange record = SignedRange.newBuilder(rows().get(0))
                .setSequence(2)
                .setStatus("")
                .setToOffset(lineEnd(file, 2_000))
                .setClosed(true)
                .setEarlierRanges(EarlierRanges.text(List.of(oneByte(), oneByte(), oneByte())))
                .build();
        log.signedRange(record, now);
        List<SignedRange> compared = rows().subList(1, rows().size());
        assertThat(compared).extracting(SignedRange::getStatus).containsOnly("unverified");
    }

    @Test
    void aFileThatBeginsDifferentlyIsAMismatchOnlyAsFarAsItArrived() {
        String file = file(60, "\n", 6);
        String other = "B x" + file.substring(3);
        int arrived = lineEnd(file, 4_700);
        sign(file);
        send(other, 0, arrived);
        passHour();
        assertThat(statuses()).containsOnlyKeys("mismatch", "unverified");
        assertThat(results()).allSatisfy(range -> assertThat(range.getStatus())
                .isEqualTo(range.getToOffset() <= arrived ? "mismatch" : "unverified"));
    }

    private static EarlierRanges.Range oneByte() {
        return new EarlierRanges.Range(1, new byte[32]);
    }
}
