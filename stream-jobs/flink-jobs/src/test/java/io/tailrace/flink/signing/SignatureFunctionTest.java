package io.tailrace.flink.signing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.tailrace.event.SignedRange;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.signing.EarlierRanges;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies chains of real Ed25519 keys: changed, dropped, repeated, reordered and forked records. */
class SignatureFunctionTest {

    private static final String HOST = SigningHost.HOST;
    private static final String HASH = SigningHost.HASH;
    private static final long PATIENCE = 300_000;

    private final SigningHost host = new SigningHost();
    private KeyedTwoInputStreamOperatorTestHarness<String, SignedRange, KafkaMessage, SignedRange> operator;
    private long now = 1_000_000;

    @BeforeEach
    void open() throws Exception {
        operator = harness(null);
        register(host.entry(HOST, "null", "null"));
    }

    @AfterEach
    void close() throws Exception {
        operator.close();
    }

    private KeyedTwoInputStreamOperatorTestHarness<String, SignedRange, KafkaMessage, SignedRange> harness(
            OperatorSubtaskState state) throws Exception {
        return harness(new SignatureFunction(), state);
    }

    private KeyedTwoInputStreamOperatorTestHarness<String, SignedRange, KafkaMessage, SignedRange> harness(
            KeyedBroadcastProcessFunction<String, SignedRange, KafkaMessage, SignedRange> function,
            OperatorSubtaskState state)
            throws Exception {
        var created = new KeyedTwoInputStreamOperatorTestHarness<>(
                new CoBroadcastWithKeyedOperator<>(function, List.of(SignatureFunction.KEYS)),
                SignedRange::getHost,
                null,
                Types.STRING);
        created.setup();
        if (state != null) {
            created.initializeState(state);
        }
        created.open();
        created.setProcessingTime(now);
        return created;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 40})
    void aChainPassesAlsoAcrossARestart(int records) throws Exception {
        List<SignedRange> chain = host.ranges(records);
        send(chain.subList(0, records / 2));
        pass(PATIENCE / 2);
        List<SignedRange> before = passed();
        restart();
        send(chain.subList(records / 2, records));
        pass(PATIENCE / 2);
        assertThat(before.size() + passed().size()).isEqualTo(records);
        assertThat(passed()).extracting(SignedRange::getStatus).containsOnly("");
        assertThat(results()).isEmpty();
    }

    @Test
    void repeatedAndReorderedRecordsAreNoProblem() throws Exception {
        List<SignedRange> chain = host.ranges(30);
        Random random = new Random(1);
        List<SignedRange> sent = new ArrayList<>(chain);
        chain.stream().filter(range -> random.nextBoolean()).map(this::copy).forEach(sent::add);
        Collections.shuffle(sent, random);
        for (SignedRange range : sent) {
            send(List.of(copy(range)));
            pass(random.nextInt(900));
        }
        pass(2 * PATIENCE);
        assertThat(passed())
                .extracting(SignedRange::getSequence)
                .doesNotHaveDuplicates()
                .hasSize(30);
        assertThat(passed()).extracting(SignedRange::getStatus).containsOnly("");
        assertThat(results()).isEmpty();
    }

    @Test
    void aChangedPayloadHasABadSignatureWhereverItIsInTheChain() throws Exception {
        for (int changed = 0; changed < 12; changed++) {
            List<SignedRange> chain =
                    new ArrayList<>(new SigningHost().register(this).ranges(12));
            SignedRange original = chain.get(changed);
            String payload = original.getPayload().replace("\"to\":", "\"to\":1");
            chain.set(changed, SignedRangeMessage.read(payload, original.getKey(), original.getSignature(), ""));
            send(chain);
            pass(2 * PATIENCE);
            assertThat(results()).as("record %d", changed).hasSize(changed + 1);
            assertThat(results().get(changed).getStatus()).isEqualTo("bad_signature");
        }
    }

    @Test
    void earlierRangesMustBeThoseThatThePayloadSigns() throws Exception {
        List<EarlierRanges.Range> ranges = List.of(range(7, 1), range(3, 2), range(5, 3));
        String right = EarlierRanges.text(ranges);
        List<String> wrong = List.of(
                "",
                "no base64",
                EarlierRanges.text(ranges.subList(0, 2)),
                EarlierRanges.text(List.of(range(7, 1), range(3, 4), range(5, 3))),
                EarlierRanges.text(List.of(range(7, 1), range(4, 2), range(5, 3))),
                EarlierRanges.text(List.of(range(6, 1), range(4, 2), range(5, 3))),
                EarlierRanges.text(List.of(range(3, 2), range(7, 1), range(5, 3))));
        for (String text : wrong) {
            send(new SigningHost().register(this).earlier(100, ranges, text));
            pass(2_000);
        }
        assertThat(passed()).isEmpty();
        assertThat(results()).hasSize(wrong.size());
        assertThat(results()).extracting(SignedRange::getStatus).containsOnly("bad_signature");
        send(host.register(this).earlier(100, ranges, right));
        pass(2_000);
        assertThat(passed()).extracting(SignedRange::getFromOffset).containsExactly(85L);
        assertThat(passed()).extracting(SignedRange::getEarlierRanges).containsExactly(right);
    }

    @Test
    void otherLengthsWithTheSameSumAreNotSignedAndTheHonestCopyIsAccepted() throws Exception {
        List<EarlierRanges.Range> ranges = List.of(range(7, 1), range(3, 2), range(5, 3));
        String moved = EarlierRanges.text(List.of(range(1, 1), range(1, 2), range(13, 3)));
        SignedRange changed = host.earlier(100, ranges, moved).get(0);
        send(List.of(changed));
        pass(2_000);
        assertThat(results()).extracting(SignedRange::getStatus).containsExactly("bad_signature");
        String right = EarlierRanges.text(ranges);
        send(List.of(SignedRangeMessage.read(changed.getPayload(), host.id(), changed.getSignature(), right)));
        send(host.ranges(1));
        pass(2_000);
        assertThat(passed()).extracting(SignedRange::getSequence).containsExactly(1L, 2L);
        assertThat(passed()).extracting(SignedRange::getStatus).containsOnly("");
        assertThat(passed().get(0).getEarlierRanges()).isEqualTo(right);
    }

    @Test
    void aHashOfDigitsThatAreNotAsciiIsNoPayload() {
        String payload = host.payload(1, "", "\"from\":5,\"to\":9");
        assertThat(SignedRangeMessage.read(payload, host.id(), "", "").getSha256())
                .isEqualTo(HASH);
        String wide = payload.replace(HASH, "\uff11".repeat(64));
        assertThatIllegalArgumentException().isThrownBy(() -> SignedRangeMessage.read(wide, host.id(), "", ""));
    }

    private static EarlierRanges.Range range(int bytes, int hash) {
        byte[] filled = new byte[32];
        Arrays.fill(filled, (byte) hash);
        return new EarlierRanges.Range(bytes, filled);
    }

    @Test
    void aMissingRecordBreaksTheChainAfterAMinute() throws Exception {
        List<SignedRange> chain = new ArrayList<>(host.ranges(10));
        chain.subList(3, 5).clear();
        send(chain);
        pass(PATIENCE / 2);
        assertThat(passed()).hasSize(3);
        pass(PATIENCE);
        assertThat(passed()).hasSize(8);
        assertThat(broken()).isEqualTo(Map.of(6L, "the records 4 to 5 are missing"));
    }

    @Test
    void aForkBreaksTheChain() throws Exception {
        send(host.ranges(3));
        pass(PATIENCE);
        SignedRange fork = host.sign(host.payload(2, "", "\"from\":5,\"to\":9"));
        send(List.of(fork));
        pass(PATIENCE);
        assertThat(broken()).isEqualTo(Map.of(2L, "the sequence number 2 has another payload as well"));
    }

    @Test
    void repeatedAndForkedRecordsAreRecognizedAlsoAcrossARestart() throws Exception {
        List<SignedRange> chain = host.ranges(200);
        send(chain);
        pass(PATIENCE);
        restart();
        send(chain.stream().map(this::copy).toList());
        SignedRange fork = host.sign(host.payload(70, "", "\"from\":5,\"to\":9"));
        send(List.of(fork));
        pass(PATIENCE);
        assertThat(passed()).extracting(SignedRange::getSequence).containsExactly(70L);
        assertThat(broken()).isEqualTo(Map.of(70L, "the sequence number 70 has another payload as well"));
    }

    /** Checkpoints of a second must not write hundreds of bytes for each of thousands of payloads. */
    @Test
    void aRememberedPayloadTakesFewBytesOfState() throws Exception {
        send(host.ranges(256));
        pass(PATIENCE);
        assertThat(operator.snapshot(1, now).getStateSize()).isLessThan(256 * 80);
    }

    @Test
    void payloadsThatAnEarlierVersionStoredAreRecognized() throws Exception {
        List<SignedRange> chain = host.ranges(3);
        operator.close();
        operator = harness(new EarlierFunction(), null);
        send(chain);
        restart();
        register(host.entry(HOST, "null", "null"));
        send(chain.stream().map(this::copy).toList());
        send(List.of(host.sign(host.payload(2, "", "\"from\":5,\"to\":9"))));
        send(host.ranges(1));
        pass(PATIENCE);
        assertThat(passed()).extracting(SignedRange::getSequence).containsExactly(2L, 4L);
        assertThat(broken()).isEqualTo(Map.of(2L, "the sequence number 2 has another payload as well"));
    }

    /** Stores the state as the function did before {@link PayloadHashes}. */
    private static final class EarlierFunction
            extends KeyedBroadcastProcessFunction<String, SignedRange, KafkaMessage, SignedRange> {

        private static final long serialVersionUID = 1;

        @Override
        public void processBroadcastElement(KafkaMessage message, Context context, Collector<SignedRange> out) {}

        @Override
        public void processElement(SignedRange range, ReadOnlyContext context, Collector<SignedRange> out)
                throws Exception {
            getRuntimeContext()
                    .getMapState(new MapStateDescriptor<>("heads", Types.STRING, Types.STRING))
                    .put(range.getKey(), range.getSequence() + " " + range.getPayloadSha256());
            getRuntimeContext()
                    .getMapState(PayloadHashes.textDescriptor())
                    .put(range.getKey() + '/' + range.getSequence(), range.getPayloadSha256());
        }
    }

    private void restart() throws Exception {
        OperatorSubtaskState state = operator.snapshot(1, now);
        operator.close();
        operator = harness(state);
    }

    @Test
    void anotherPredecessorBreaksTheChain() throws Exception {
        send(host.ranges(2));
        send(List.of(host.sign(host.payload(3, HASH, "\"from\":5,\"to\":9"))));
        pass(PATIENCE);
        assertThat(broken()).isEqualTo(Map.of(3L, "the payload before it was another one"));
    }

    @Test
    void aKeyThatIsRegisteredWithinAMinuteIsKnown() throws Exception {
        SigningHost other = new SigningHost();
        send(other.ranges(2));
        pass(PATIENCE / 2);
        other.register(this);
        pass(PATIENCE);
        assertThat(passed()).hasSize(2);
        assertThat(results()).isEmpty();
    }

    @Test
    void unknownKeysKeysOfOtherHostsAndRevokedKeysAreReported() throws Exception {
        send(new SigningHost().ranges(1));
        SigningHost elsewhere = new SigningHost();
        SigningHost revoked = new SigningHost();
        register(host.entry(HOST, "null", "null")
                + "," + elsewhere.entry("db-host-2", "null", "null")
                + "," + revoked.entry(HOST, "null", "\"2020-01-01T00:00:00Z\""));
        send(elsewhere.ranges(1));
        send(revoked.ranges(1));
        pass(2 * PATIENCE);
        assertThat(passed()).isEmpty();
        assertThat(results()).extracting(SignedRange::getStatus).containsOnly("unknown_key");
        assertThat(results())
                .extracting(SignedRange::getReason)
                .containsExactlyInAnyOrder(
                        "the key is not registered",
                        "the key is registered for the host db-host-2",
                        "the key was revoked at 2020-01-01T00:00:00Z");
    }

    @Test
    void aRotationContinuesTheChainUnderTheNewKey() throws Exception {
        SigningHost next = new SigningHost();
        register(host.entry(HOST, "null", "null") + "," + next.entry(HOST, "\"" + host.id() + "\"", "null"));
        List<SignedRange> before = host.ranges(2);
        List<SignedRange> records = new ArrayList<>(host.rotate(next));
        records.addAll(next.ranges(2));
        Collections.reverse(records);
        send(before);
        send(records);
        pass(2 * PATIENCE);
        assertThat(passed()).extracting(SignedRange::getSequence).containsExactly(1L, 2L, 4L, 5L);
        assertThat(passed()).extracting(SignedRange::getStatus).containsOnly("");
        assertThat(results()).singleElement().satisfies(rotation -> {
            assertThat(rotation.getStatus()).isEqualTo("verified");
            assertThat(rotation.getReason()).isEqualTo("rotation to the key " + next.id());
        });
    }

    @Test
    void aReplacingKeyWithoutARotationIsABrokenChain() throws Exception {
        SigningHost next = new SigningHost();
        register(host.entry(HOST, "null", "null") + "," + next.entry(HOST, "\"" + host.id() + "\"", "null"));
        send(host.ranges(2));
        next.sequence = 7;
        send(next.ranges(1));
        pass(2 * PATIENCE);
        assertThat(broken()).isEqualTo(Map.of(8L, "no rotation from the key " + host.id() + " precedes it"));
    }

    // ---- the host ----

    void register(String entries) throws Exception {
        operator.processElement2(
                new KafkaMessage(
                        "tailrace.host_keys", 0, 0, "keys".getBytes(UTF_8), ("{" + entries + "}").getBytes(UTF_8)),
                0);
    }

    private SignedRange copy(SignedRange range) {
        return SignedRange.newBuilder(range).build();
    }

    private void send(List<SignedRange> ranges) throws Exception {
        for (SignedRange range : ranges) {
            operator.processElement1(range, 0);
        }
    }

    private void pass(long millis) throws Exception {
        now += millis;
        operator.setProcessingTime(now);
    }

    private List<SignedRange> passed() {
        return operator.extractOutputValues();
    }

    private List<SignedRange> results() {
        var output = operator.getSideOutput(SignatureFunction.RESULTS);
        return output == null
                ? List.of()
                : output.stream().map(StreamRecord::getValue).toList();
    }

    private Map<Long, String> broken() {
        Map<Long, String> broken = new TreeMap<>();
        for (SignedRange range : passed()) {
            if (range.getStatus().equals("broken_chain")) {
                broken.put(range.getSequence(), range.getReason());
            }
        }
        return broken;
    }
}
