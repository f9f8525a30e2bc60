package io.tailrace.flink.framing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.SignedRange;
import io.tailrace.flink.ingest.LogInput;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.reassembly.FileOrigin;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.content.HeadHash;
import io.tailrace.signing.EarlierRanges;
import io.tailrace.signing.RangeHash;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OperatorSnapshotUtil;
import org.junit.jupiter.api.Test;

/** A framer continues with the hashes and the waiting records that version 3 of its state has. */
class SignedRangeUpgradeTest {

    private static final long START = 1_700_000_000_000L;
    private static final String PATH = "/var/log/mysql/slow.log";
    private static final int RANGE = 16_384;
    private static final byte[] FILE = file();

    private final KeyedOneInputStreamOperatorTestHarness<String, LogInput, EntryBlock> harness;

    SignedRangeUpgradeTest() throws Exception {
        FramerOperator operator = new FramerOperator(ReassemblyLimits.defaults(), FormatRegistry::new, "test");
        harness = new KeyedOneInputStreamOperatorTestHarness<>(operator, LogInput::key, Types.STRING, 128, 1, 0);
    }

    /** The state has the bytes of the ranges 0 to 2 and a part of 3, and a record of 3 that waits for the others. */
    @Test
    void rangesOfTheVersionBeforeAreCompared() throws Exception {
        harness.initializeState(versionThree());
        harness.open();
        harness.setProcessingTime(START);
        int arrived = end(2) + 40;
        send(new LogInput(lines(arrived, FILE.length), null, null));
        send(new LogInput(null, null, record(0, 2)));
        send(new LogInput(null, null, record(4, 5)));
        harness.setProcessingTime(START + 5_000);
        List<SignedRange> rows = harness.getSideOutput(FramerOperator.SIGNED_RANGES).stream()
                .map(each -> each.getValue())
                .toList();
        assertThat(rows).extracting(SignedRange::getStatus).containsOnly("verified");
        assertThat(rows).extracting(SignedRange::getFromOffset).containsExactlyInAnyOrder(0L, (long) end(2), (long)
                end(3));
        assertThat(rows)
                .extracting(SignedRange::getToOffset)
                .containsExactlyInAnyOrder((long) end(2), (long) end(3), (long) end(5));
        harness.close();
    }

    private static OperatorSubtaskState versionThree() throws Exception {
        Path file = Path.of(SignedRangeUpgradeTest.class
                .getResource("/framer-state/version-3")
                .toURI());
        return OperatorSnapshotUtil.readStateHandle(file.toString());
    }

    private void send(LogInput input) throws Exception {
        harness.processElement(input, 0);
    }

    private static LineBlock lines(int from, int to) {
        String key = LogId.of("db1", "slowlog", PATH).toKey();
        String text = new String(FILE, from, to - from, ISO_8859_1);
        return new LineBlock(
                new FileOrigin(key, "c1", "db1", "slowlog", "auto", "UTC", PATH),
                from,
                text.getBytes(ISO_8859_1),
                START,
                false,
                0);
    }

    /** Returns a record of the ranges from {@code first} to {@code last}. */
    private static SignedRange record(int first, int last) {
        SignedRange range = new SignedRange();
        range.setCluster("c1");
        range.setInstance("db1");
        range.setSource("slowlog");
        range.setLog(PATH);
        range.setPath(PATH);
        range.setGeneration(0L);
        range.setInode(7L);
        range.setHeadLength(4096);
        range.setHeadHash(HeadHash.hex(FILE, 4096));
        range.setFromOffset((long) end(first - 1));
        range.setToOffset((long) end(last));
        range.setClosed(true);
        range.setSha256(HexFormat.of().formatHex(hash(last)));
        range.setHost("host-1");
        range.setKey("0123456789abcdef");
        range.setSequence((long) last);
        range.setPrevious("");
        range.setPayload("{}");
        range.setPayloadSha256("");
        range.setSignature("");
        range.setStatus("");
        range.setReason("");
        range.setSignedAt(Instant.ofEpochMilli(START));
        range.setVerifiedAt(Instant.EPOCH);
        range.setEarlierRanges(EarlierRanges.text(IntStream.range(first, last)
                .mapToObj(n -> new EarlierRanges.Range(end(n) - end(n - 1), hash(n)))
                .toList()));
        return range;
    }

    private static byte[] hash(int range) {
        return new RangeHash().of(FILE, end(range - 1), end(range));
    }

    /** Returns the end of a range; that of the range before the first is 0. */
    private static int end(int range) {
        int end = range < 0 ? 0 : end(range - 1) + RANGE - 1;
        while (range >= 0 && FILE[end++] != '\n') {}
        return end;
    }

    private static byte[] file() {
        StringBuilder file = new StringBuilder();
        for (int i = 0; i < 700; i++) {
            file.append(String.format(
                    "# Time: 2026-06-15T12:%02d:%02d.000000Z\n# User@Host: app[app] @ localhost []  Id:    %d\n"
                            + "# Query_time: 0.500000  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 100\n"
                            + "SET timestamp=%d;\nSELECT * FROM t WHERE id = %d;\n",
                    i / 60, i % 60, i, 1781524800 + i, i));
        }
        return file.toString().getBytes(ISO_8859_1);
    }
}
