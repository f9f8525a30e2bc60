package io.tailrace.flink.framing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.flink.ingest.LogInput;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.FileOrigin;
import io.tailrace.reassembly.FramedEntry;
import io.tailrace.reassembly.LineBlock;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.ReassemblyLimits;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OperatorSnapshotUtil;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FramerOperatorTest {

    private static final int LOGS = 6;
    private static final long START = 1_700_000_000_000L;
    private static final String BANNER =
            "/usr/sbin/mysqld, Version: 8.0.46 (MySQL Community Server - GPL). started with:\n"
                    + "Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\n"
                    + "Time                 Id Command    Argument\n";

    private final List<FramedEntry> entries = new ArrayList<>();
    private final List<LedgerEntry> postings = new ArrayList<>();
    private final List<DeadLetter> deadLetters = new ArrayList<>();
    private long checkpoint;

    @Test
    void recordsBetweenOperatorsAreSerializedWithoutKryo() {
        assertThat(TypeInformation.of(LogInput.class)).isInstanceOf(PojoTypeInfo.class);
        assertThat(TypeInformation.of(EntryBlock.class)).isInstanceOf(PojoTypeInfo.class);
    }

    @Test
    void linesAndCensusKeepTheirOrderAndContentBetweenOperators() throws Exception {
        List<LogInput> inputs = List.of(
                new LogInput(block(0, 7, ""), null, null),
                new LogInput(null, census(0, 77, 500), null),
                new LogInput(backfill(9, ""), null, null));
        TypeSerializer<LogInput> serializer =
                TypeInformation.of(LogInput.class).createSerializer(new SerializerConfigImpl());
        DataOutputSerializer out = new DataOutputSerializer(1000);
        for (LogInput input : inputs) {
            serializer.serialize(input, out);
        }
        DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());
        for (LogInput input : inputs) {
            assertThat(serializer.deserialize(in)).usingRecursiveComparison().isEqualTo(input);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 40, 1000})
    void aRestoreBetweenAnyTwoLinesChangesNothing(int linesBetweenRestores) throws Exception {
        String file = file(20);
        Framer framer = new Framer(1, 0, null);
        String[] lines = file.split("(?<=\n)");
        int offset = 0;
        for (int i = 0; i < lines.length; i++) {
            for (int log = 0; log < LOGS; log++) {
                framer.send(block(log, offset, lines[i]));
            }
            offset += lines[i].length();
            if (i % linesBetweenRestores == linesBetweenRestores - 1) {
                framer = framer.restored();
            }
        }
        framer.snapshot();
        framer.close();
        assertWhole(file);
    }

    @Test
    void stateFollowsItsKeysWhenTheJobIsRescaled() throws Exception {
        String file = file(10);
        int half = file.indexOf("# Time", file.length() / 2) + 20;
        half = file.indexOf('\n', half) + 1;
        Framer one = new Framer(1, 0, null);
        for (int log = 0; log < LOGS; log++) {
            one.send(block(log, 0, file.substring(0, half)));
        }
        OperatorSubtaskState state = one.snapshot();
        one.close();
        Framer[] two = {new Framer(2, 0, state), new Framer(2, 1, state)};
        for (int log = 0; log < LOGS; log++) {
            LineBlock rest = block(log, half, file.substring(half));
            for (Framer framer : two) {
                if (framer.owns(rest.origin().key())) {
                    framer.send(rest);
                }
            }
        }
        for (Framer framer : two) {
            framer.snapshot();
            framer.close();
        }
        assertWhole(file);
    }

    @Test
    void aHoleBecomesAGapAfterItsTimeoutAlsoAfterARestore() throws Exception {
        String file = file(3);
        int lost = BANNER.length() + entry(0).length();
        int resume = lost + entry(1).length();
        Framer framer = new Framer(1, 0, null);
        framer.send(block(0, 0, file.substring(0, lost)));
        framer.send(block(0, resume, file.substring(resume)));
        framer = framer.restored();
        framer.setTime(START + 29_000);
        framer.snapshot();
        assertThat(of(PostingKind.GAP)).isEmpty();
        framer.setTime(START + 31_000);
        framer.snapshot();
        assertThat(of(PostingKind.GAP)).singleElement().satisfies(gap -> {
            assertThat(gap.getFromOffset()).isEqualTo(lost);
            assertThat(gap.getToOffset()).isEqualTo(resume);
            assertThat(gap.getDetail()).isEqualTo("lost");
        });
        assertThat(entries).hasSize(2);
        framer.send(backfill(lost, file.substring(lost, resume)));
        framer.snapshot();
        framer.close();
        assertThat(entries).hasSize(3);
        assertThat(entries.get(2).backfill()).isTrue();
        assertThat(of(PostingKind.GAP).stream().mapToLong(LedgerEntry::getBytes).sum())
                .isZero();
    }

    /** Version 1 held one clock; commit 749ec77 and those after it until c4a42b6 wrote it. */
    @Test
    void stateOfTheFirstVersionIsReadAndWrittenAgain() throws Exception {
        String file = file(3);
        int lost = BANNER.length() + entry(0).length();
        int resume = lost + entry(1).length();
        int torn = file.lastIndexOf("FROM t");
        Framer framer = new Framer(1, 0, firstVersion()).restored();
        framer.setTime(START + 31_000);
        framer.send(backfill(lost, file.substring(lost, resume)));
        framer.send(block(2, torn, file.substring(torn)));
        framer.setTime(START + 60_000);
        framer.snapshot();
        assertThat(framedIn("db0")).as("a recorded gap is filled").containsExactly(entry(1));
        assertThat(framedIn("db2")).as("the second half of an entry follows").containsExactly(entry(2));
        assertThat(framedIn("db1")).as("lines behind a hole are held").isEmpty();
        framer.setTime(START + 62_000);
        framer.snapshot();
        framer.close();
        assertThat(framedIn("db1")).as("and follow a gap after its timeout").containsExactly(entry(2));
        assertThat(of(PostingKind.GAP).stream().filter(gap -> gap.getCount() > 0))
                .singleElement()
                .satisfies(gap -> assertThat(gap.getToOffset()).isEqualTo(resume));
    }

    private List<String> framedIn(String instance) {
        return entries.stream()
                .filter(entry -> entry.origin().instance().equals(instance))
                .map(entry -> new String(entry.bytes(), ISO_8859_1))
                .toList();
    }

    private static OperatorSubtaskState firstVersion() throws Exception {
        URL file = FramerOperatorTest.class.getResource("/framer-state/version-1");
        return OperatorSnapshotUtil.readStateHandle(Path.of(file.toURI()).toString());
    }

    @Test
    void stateOfAnUnknownVersionIsRefusedWithASentenceThatHelps() throws Exception {
        Framer framer = new Framer(1, 0, null);
        framer.send(block(0, 0, file(2)));
        OperatorSubtaskState state = framer.snapshot();
        framer.close();
        OperatorSubtaskState unversioned = OperatorSubtaskState.builder()
                .setManagedKeyedState(state.getManagedKeyedState())
                .build();
        assertThatThrownBy(() -> new Framer(1, 0, unversioned))
                .isInstanceOf(IncompatibleStateException.class)
                .hasMessageContaining("has no version, this version reads 1 to 4")
                .hasMessageContaining("make clean-data");
    }

    @Test
    void theCensusShowsHowFarAFileIsBehind() throws Exception {
        String file = file(2);
        Framer framer = new Framer(1, 0, null);
        framer.send(block(0, 0, file));
        framer.send(census(0, 77, file.length() + 500));
        framer.setTime(START + 2000);
        framer.snapshot();
        framer.close();
        assertThat(of(PostingKind.CENSUS)).singleElement().satisfies(row -> {
            assertThat(row.getSize()).isEqualTo(file.length() + 500L);
            assertThat(row.getInode()).isEqualTo(77);
        });
        assertThat(of(PostingKind.FRONTIER)).last().satisfies(row -> {
            assertThat(row.getToOffset()).isEqualTo(file.length());
            assertThat(row.getFromOffset()).isEqualTo(file.length());
        });
    }

    private List<LedgerEntry> of(PostingKind kind) {
        return postings.stream().filter(posting -> posting.getKind() == kind).toList();
    }

    /** Asserts that every log resulted in all entries of the file, in order, and that every byte was posted once. */
    private void assertWhole(String file) {
        assertThat(deadLetters).isEmpty();
        for (int log = 0; log < LOGS; log++) {
            String instance = "db" + log;
            StringBuilder joined = new StringBuilder(BANNER);
            entries.stream()
                    .filter(entry -> entry.origin().instance().equals(instance))
                    .forEach(entry -> joined.append(new String(entry.bytes(), ISO_8859_1)));
            assertThat(joined.toString()).isEqualTo(file);
            long posted = postings.stream()
                    .filter(p -> p.getInstance().equals(instance))
                    .filter(p -> p.getKind() == PostingKind.ENTRY || p.getKind() == PostingKind.FRAMING)
                    .mapToLong(LedgerEntry::getBytes)
                    .sum();
            assertThat(posted).isEqualTo(file.length());
        }
    }

    private static String file(int count) {
        StringBuilder file = new StringBuilder(BANNER);
        for (int i = 0; i < count; i++) {
            file.append(entry(i));
        }
        return file.toString();
    }

    private static String entry(int number) {
        return String.format(
                "# Time: 2026-06-15T12:00:%02d.000000Z%n"
                        + "# User@Host: app[app] @ localhost []  Id:    %d%n"
                        + "# Query_time: 0.500000  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 100%n"
                        + "SET timestamp=%d;%nSELECT *%nFROM t%nWHERE id = %d;%n",
                number, number, 1781524800 + number, number);
    }

    private static LineBlock block(int log, long offset, String text) {
        return block("db" + log, offset, text, false, 0);
    }

    private static LineBlock backfill(long offset, String text) {
        return block("db0", offset, text, true, 1);
    }

    private static LineBlock block(String instance, long offset, String text, boolean backfill, long generation) {
        String path = "/var/log/mysql/slow.log";
        String key = LogId.of(instance, "slowlog", path).toKey();
        return new LineBlock(
                new FileOrigin(key, "c1", instance, "slowlog", "auto", "UTC", path),
                offset,
                text.getBytes(ISO_8859_1),
                START,
                backfill,
                generation);
    }

    private static CensusRecord census(int log, long inode, long size) {
        LineBlock block = block(log, 0, "");
        return new CensusRecord(
                block.origin().key(),
                "c1",
                block.origin().instance(),
                "slowlog",
                block.origin().path(),
                inode,
                size,
                0,
                "",
                START * 1000);
    }

    /** A running operator. Its output is collected when a checkpoint is taken. */
    private final class Framer {
        private final KeyedOneInputStreamOperatorTestHarness<String, LogInput, EntryBlock> harness;
        private int taken;

        Framer(int parallelism, int index, OperatorSubtaskState state) throws Exception {
            FramerOperator operator = new FramerOperator(ReassemblyLimits.defaults(), FormatRegistry::new, "test");
            harness = new KeyedOneInputStreamOperatorTestHarness<>(
                    operator, LogInput::key, Types.STRING, 128, parallelism, index);
            if (state != null) {
                harness.initializeState(
                        AbstractStreamOperatorTestHarness.repartitionOperatorState(state, 128, 1, parallelism, index));
            }
            harness.open();
            harness.setProcessingTime(START);
        }

        boolean owns(String key) {
            return KeyGroupRangeAssignment.assignKeyToParallelOperator(key, 128, 2)
                    == harness.getEnvironment().getTaskInfo().getIndexOfThisSubtask();
        }

        void send(LineBlock block) throws Exception {
            harness.processElement(new LogInput(block, null, null), 0);
        }

        void send(CensusRecord record) throws Exception {
            harness.processElement(new LogInput(null, record, null), 0);
        }

        void setTime(long epochMillis) throws Exception {
            harness.setProcessingTime(epochMillis);
        }

        OperatorSubtaskState snapshot() throws Exception {
            harness.prepareSnapshotPreBarrier(++checkpoint);
            List<EntryBlock> all = harness.extractOutputValues();
            all.subList(taken, all.size()).forEach(block -> block.forEach(entries::add));
            taken = all.size();
            take(FramerOperator.POSTINGS, postings);
            take(FramerOperator.DEAD_LETTERS, deadLetters);
            return harness.snapshot(checkpoint, checkpoint);
        }

        private <T> void take(OutputTag<T> tag, List<T> into) {
            var output = harness.getSideOutput(tag);
            if (output != null) {
                output.forEach(record -> into.add(record.getValue()));
                output.clear();
            }
        }

        Framer restored() throws Exception {
            OperatorSubtaskState state = snapshot();
            close();
            return new Framer(1, 0, state);
        }

        void close() throws Exception {
            harness.close();
        }
    }
}
