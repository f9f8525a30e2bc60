package io.tailrace.flink.ingest;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.reassembly.CensusRecord;
import io.tailrace.reassembly.LineBlock;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LineBlockOperatorTest {

    private static final OutputTag<DeadLetter> DEAD =
            new OutputTag<>("dead-letters", new AvroTypeInfo<>(DeadLetter.class));

    private OneInputStreamOperatorTestHarness<KafkaMessage, LogInput> operator;
    private long kafkaOffset;

    @BeforeEach
    void open() throws Exception {
        operator = new OneInputStreamOperatorTestHarness<>(new LineBlockOperator(DEAD, "test"), 1, 1, 0);
        operator.open();
    }

    @AfterEach
    void close() throws Exception {
        operator.close();
    }

    @Test
    void consecutiveLinesBecomeOneBlockOfTheFilesBytes() throws Exception {
        sendLines("/slow.log", 100, "one\n", "two\r\n", "\r\n", "three\n", "\n", "four\n");
        operator.prepareSnapshotPreBarrier(1);
        assertThat(texts()).containsExactly("100:one\ntwo\r\n\r\nthree\n\nfour\n");
    }

    @Test
    void aHoleEndsTheBlock() throws Exception {
        sendLines("/slow.log", 0, "one\n");
        sendLines("/slow.log", 10, "two\n");
        operator.prepareSnapshotPreBarrier(1);
        assertThat(texts()).containsExactly("0:one\n", "10:two\n");
    }

    @Test
    void filesThatAlternateHaveTheirOwnBlocks() throws Exception {
        sendLines("/a", 0, "1\n");
        sendLines("/b", 0, "2\n");
        sendLines("/a", 2, "3\n");
        sendLines("/b", 2, "4\n");
        operator.prepareSnapshotPreBarrier(1);
        assertThat(texts()).containsExactlyInAnyOrder("0:1\n3\n", "0:2\n4\n");
    }

    @Test
    void aLineWaitsForFiftyMillisecondsAtMost() throws Exception {
        sendLines("/slow.log", 0, "one\n");
        assertThat(texts()).isEmpty();
        operator.setProcessingTime(50);
        assertThat(texts()).containsExactly("0:one\n");
        sendLines("/slow.log", 4, "two\n");
        operator.setProcessingTime(100);
        assertThat(texts()).containsExactly("0:one\n", "4:two\n");
    }

    @Test
    void aFullBlockGoesOutAtOnceAndALongLineWhole() throws Exception {
        String line = "x".repeat(3 * LineBlockAssembler.BLOCK_BYTES) + "\n";
        sendLines("/slow.log", 0, line, "next\n");
        operator.prepareSnapshotPreBarrier(1);
        assertThat(texts()).containsExactly("0:" + line, line.length() + ":next\n");
    }

    @Test
    void aLineThatMayHaveBeenCutIsAHole() throws Exception {
        String whole = "x".repeat(LineMessage.CUT_BYTES - 1) + "\n";
        String cut = "x".repeat(LineMessage.CUT_BYTES) + "\n";
        sendLines("/slow.log", 0, whole, cut, "next\n");
        operator.prepareSnapshotPreBarrier(1);
        int next = whole.length() + cut.length();
        assertThat(texts()).containsExactly("0:" + whole, next + ":next\n");
    }

    @Test
    void aBackfillRecordOfAnyLengthIsPassedOn() throws Exception {
        byte[] line = "x".repeat(LineMessage.CUT_BYTES).getBytes(ISO_8859_1);
        Map<String, Object> record = MessagePack.lineMap("/slow.log", 0, line);
        record.put("backfill", true);
        record.put("generation", 3L);
        send(MessagePack.map(record));
        assertThat(texts()).hasSize(1);
    }

    @Test
    void aBackfillRecordIsPassedOnAsItIs() throws Exception {
        Map<String, Object> record = MessagePack.lineMap("/slow.log.1", 7, "a\r\nb".getBytes(ISO_8859_1));
        record.put("backfill", true);
        record.put("generation", 3L);
        send(MessagePack.map(record));
        LineBlock block = operator.extractOutputValues().get(0).lines();
        assertThat(block.backfill()).isTrue();
        assertThat(block.generation()).isEqualTo(3);
        assertThat(texts()).containsExactly("7:a\r\nb");
    }

    @Test
    void namesComeFromTheMessage() throws Exception {
        sendLines("/var/log/slow.log.1", 0, "one\n");
        operator.prepareSnapshotPreBarrier(1);
        LineBlock block = operator.extractOutputValues().get(0).lines();
        assertThat(block.origin().key()).isEqualTo("db-1\u001fslowlog\u001f/var/log/slow.log");
        assertThat(block.origin().cluster()).isEqualTo("shop");
        assertThat(block.origin().zone()).isEqualTo("UTC");
        assertThat(block.readAt()).isEqualTo(1_700_000_000_500L);
    }

    @Test
    void fourNamesMayComeInOne() throws Exception {
        Map<String, Object> line = MessagePack.lineMap("/slow.log", 0, "one".getBytes(ISO_8859_1));
        line.keySet().removeAll(List.of("cluster", "source", "format", "tz"));
        line.put("origin", "slowlog||Europe/Berlin|shop|1");
        send(MessagePack.map(line));
        line.put("origin", "slowlog|auto|shop");
        send(MessagePack.map(line));
        operator.prepareSnapshotPreBarrier(1);
        LineBlock block = operator.extractOutputValues().get(0).lines();
        assertThat(block.origin().source()).isEqualTo("slowlog");
        assertThat(block.origin().format()).isEmpty();
        assertThat(block.origin().zone()).isEqualTo("Europe/Berlin");
        assertThat(block.origin().cluster()).isEqualTo("shop|1");
        assertThat(operator.getSideOutput(DEAD))
                .singleElement()
                .satisfies(letter -> assertThat(letter.getValue().getMessage()).isEqualTo("key cluster is missing"));
    }

    @Test
    void whatIsNoLineIsADeadLetterAndStopsNothing() throws Exception {
        send("no msgpack".getBytes(ISO_8859_1));
        send(new byte[0]);
        Map<String, Object> noOffset = MessagePack.lineMap("/slow.log", 0, new byte[0]);
        noOffset.remove("offset");
        send(MessagePack.map(noOffset));
        sendLines("/slow.log", 0, "one\n");
        operator.prepareSnapshotPreBarrier(1);
        assertThat(texts()).containsExactly("0:one\n");
        List<DeadLetter> letters = operator.getSideOutput(DEAD).stream()
                .map(record -> record.getValue())
                .toList();
        assertThat(letters).extracting(DeadLetter::getCode).containsOnly("MALFORMED_MESSAGE");
        assertThat(letters).extracting(DeadLetter::getInstance).containsOnly("db-1");
        assertThat(letters).extracting(DeadLetter::getEntryOffset).containsExactly(0L, 1L, 2L);
        assertThat(letters.get(2).getMessage()).isEqualTo("key offset is missing");
    }

    @Test
    void readsACensusAndSkipsWhatItDoesNotKnow() throws Exception {
        send(MessagePack.map(census()));
        assertThat(operator.extractOutputValues())
                .containsExactly(LogInput.of(new CensusRecord(
                        "db-1\u001fslowlog\u001f/slow.log",
                        "shop",
                        "db-1",
                        "slowlog",
                        "/slow.log.1",
                        11,
                        22,
                        33,
                        "aa",
                        1_700_000_000_250_000L)));
    }

    @Test
    void aCensusComesAfterTheLinesBeforeItAndBeforeThoseAfterIt() throws Exception {
        sendLines("/slow.log.1", 0, "one\n");
        send(MessagePack.map(census()));
        sendLines("/slow.log.1", 4, "two\n");
        operator.prepareSnapshotPreBarrier(1);
        assertThat(texts()).containsExactly("0:one\n", "census of /slow.log.1", "4:two\n");
    }

    @Test
    void aCensusThatLacksSomethingIsADeadLetter() throws Exception {
        Map<String, Object> noSize = census();
        noSize.remove("size");
        send(MessagePack.map(noSize));
        assertThat(operator.extractOutputValues()).isEmpty();
        assertThat(operator.getSideOutput(DEAD)).hasSize(1);
    }

    @Test
    void anyBytesAreEitherALineOrADeadLetter() throws Exception {
        Random random = new Random(42);
        byte[] good = MessagePack.line("/slow.log", 5, "some text".getBytes(ISO_8859_1));
        for (int i = 0; i < 20_000; i++) {
            byte[] message = Arrays.copyOf(good, random.nextInt(good.length + 1));
            for (int flips = random.nextInt(4); flips > 0 && message.length > 0; flips--) {
                message[random.nextInt(message.length)] = (byte) random.nextInt(256);
            }
            send(message);
        }
        operator.prepareSnapshotPreBarrier(1);
        long lines = operator.extractOutputValues().size();
        assertThat(lines).isPositive();
        assertThat(operator.getSideOutput(DEAD).size() + lines).isLessThanOrEqualTo(20_000);
    }

    /** Sends lines like a collector: without line feed, and without the carriage return of a line with text. */
    private void sendLines(String path, long from, String... lines) throws Exception {
        long offset = from;
        for (String line : lines) {
            String shipped = line.equals("\r\n") ? "\r" : line.replaceFirst("\r?\n$", "");
            send(MessagePack.line(path, offset, shipped.getBytes(ISO_8859_1)));
            offset += line.length();
        }
    }

    private void send(byte[] message) throws Exception {
        operator.processElement(
                new KafkaMessage("tailrace.slowlog.lines", 0, kafkaOffset++, "db-1".getBytes(ISO_8859_1), message), 0);
    }

    private List<String> texts() {
        return operator.extractOutputValues().stream()
                .map(input ->
                        input.census() != null ? "census of " + input.census().path() : text(input.lines()))
                .toList();
    }

    private static String text(LineBlock block) {
        return block.offset() + ":" + new String(block.bytes(), ISO_8859_1);
    }

    private static Map<String, Object> census() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("at", 1_700_000_000.25);
        map.put("cluster", "shop");
        map.put("instance", "db-1");
        map.put("source", "slowlog");
        map.put("path", "/slow.log.1");
        map.put("inode", 11L);
        map.put("size", 22L);
        map.put("head_length", 33L);
        map.put("head_hash", "aa");
        map.put("mtime", 1_700_000_000.0);
        map.put("new", true);
        return map;
    }
}
