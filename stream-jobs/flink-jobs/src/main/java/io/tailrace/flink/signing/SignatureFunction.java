package io.tailrace.flink.signing;

import io.tailrace.event.SignedRange;
import io.tailrace.flink.ingest.KafkaMessage;
import io.tailrace.flink.signing.HostKeys.Registered;
import io.tailrace.signing.HostKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Verifies the signatures and the chains of a host. Keyed by the host that a payload names, which is trusted only after
 * its signature was verified with a key that is registered for that host.
 *
 * <p>The main output contains the ranges to compare with the bytes. Those with a broken chain have that status; the
 * others have none. {@link #RESULTS} contains the records that no bytes are needed for.
 *
 * <p>Records wait for a second. Among more than {@value #EACH} records of a key, a signature is verified only if the
 * next record does not contain the hash of the payload, because a verification takes a millisecond.
 */
public final class SignatureFunction
        extends KeyedBroadcastProcessFunction<String, SignedRange, KafkaMessage, SignedRange> {

    /** The newest value of the topic of keys, as JSON. */
    public static final MapStateDescriptor<String, String> KEYS =
            new MapStateDescriptor<>("host-keys", Types.STRING, Types.STRING);

    /** Records with their final status. */
    public static final OutputTag<SignedRange> RESULTS =
            new OutputTag<>("signature-results", new AvroTypeInfo<>(SignedRange.class));

    private static final long serialVersionUID = 1;
    private static final Logger LOG = LoggerFactory.getLogger(SignatureFunction.class);

    private static final String CURRENT = "keys";
    private static final long BATCH_MILLIS = 1000;
    /** Time for which missing records and unregistered keys are waited for: a census repeats lost ones within it. */
    private static final long PATIENCE_MILLIS = 300_000;

    private static final int EACH = 4;

    private transient ListState<SignedRange> held;
    private transient MapState<String, String> heads;
    private transient PayloadHashes payloads;
    private transient HostKeys keys;

    @Override
    public void open(OpenContext context) {
        held = getRuntimeContext()
                .getListState(new ListStateDescriptor<>("held", new AvroTypeInfo<>(SignedRange.class)));
        heads = getRuntimeContext().getMapState(new MapStateDescriptor<>("heads", Types.STRING, Types.STRING));
        payloads = new PayloadHashes(getRuntimeContext());
    }

    @Override
    public void processBroadcastElement(KafkaMessage message, Context context, Collector<SignedRange> out)
            throws Exception {
        String json = new String(message.value(), StandardCharsets.UTF_8);
        if (!new String(message.key(), StandardCharsets.UTF_8).equals(CURRENT)) {
            return;
        }
        try {
            keys = HostKeys.of(json);
            context.getBroadcastState(KEYS).put(CURRENT, json);
        } catch (IllegalArgumentException e) {
            LOG.warn("ignored the registered keys at offset {}: {}", message.offset(), e.getMessage());
        }
    }

    private HostKeys keys(ReadOnlyBroadcastState<String, String> state) throws Exception {
        if (keys == null) {
            String json = state.get(CURRENT);
            keys = HostKeys.of(json == null ? "{}" : json);
        }
        return keys;
    }

    @Override
    public void processElement(SignedRange range, ReadOnlyContext context, Collector<SignedRange> out)
            throws Exception {
        long now = context.timerService().currentProcessingTime();
        range.setVerifiedAt(Instant.ofEpochMilli(now));
        held.add(range);
        context.timerService().registerProcessingTimeTimer((now / BATCH_MILLIS + 1) * BATCH_MILLIS);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<SignedRange> out) throws Exception {
        Batch batch = new Batch(context, out);
        List<SignedRange> rest = new ArrayList<>();
        for (List<SignedRange> ofKey : byKey(held.get())) {
            batch.take(ofKey, rest);
        }
        held.update(rest);
        if (!rest.isEmpty()) {
            context.timerService().registerProcessingTimeTimer(timestamp + BATCH_MILLIS);
        }
    }

    /** Groups records by key, and sorts them by sequence: a key that replaces another one comes after it. */
    private static Collection<List<SignedRange>> byKey(Iterable<SignedRange> ranges) {
        List<SignedRange> sorted = new ArrayList<>();
        ranges.forEach(sorted::add);
        sorted.sort(Comparator.comparingLong(SignedRange::getSequence));
        Map<String, List<SignedRange>> byKey = new LinkedHashMap<>();
        sorted.forEach(range ->
                byKey.computeIfAbsent(range.getKey(), key -> new ArrayList<>()).add(range));
        return byKey.values();
    }

    /** The records that one timer processes. */
    private final class Batch {
        private final OnTimerContext context;
        private final Collector<SignedRange> out;
        private final Instant now;
        private final HostKeys registered;

        private Batch(OnTimerContext context, Collector<SignedRange> out) throws Exception {
            this.context = context;
            this.out = out;
            this.now = Instant.ofEpochMilli(context.timerService().currentProcessingTime());
            this.registered = keys(context.getBroadcastState(KEYS));
        }

        /** Processes the records of one key, in the order of their sequence; adds those that wait to {@code rest}. */
        private void take(List<SignedRange> ranges, List<SignedRange> rest) throws Exception {
            Registered key = registered.get(ranges.get(0).getKey());
            boolean[] authentic = key == null ? null : authentic(ranges, key.key());
            for (int i = 0; i < ranges.size(); i++) {
                SignedRange range = ranges.get(i);
                String problem = key == null ? "the key is not registered" : problem(range, key);
                if (key == null && isPatient(range)) {
                    rest.add(range);
                } else if (!problem.isEmpty()) {
                    result(range, "unknown_key", problem);
                } else if (!authentic[i]) {
                    result(range, "bad_signature", "the key did not sign this payload");
                } else if (!range.getReason().isEmpty()) {
                    result(range, "bad_signature", range.getReason());
                } else {
                    continueChain(range, key, rest);
                }
            }
        }

        private boolean isPatient(SignedRange range) {
            return now.toEpochMilli() - range.getVerifiedAt().toEpochMilli() < PATIENCE_MILLIS;
        }

        private String problem(SignedRange range, Registered key) {
            if (!key.host().equals(range.getHost())) {
                return "the key is registered for the host " + key.host();
            }
            boolean revoked = key.revokedAt() != null && !range.getSignedAt().isBefore(key.revokedAt());
            return revoked ? "the key was revoked at " + key.revokedAt() : "";
        }

        private boolean[] authentic(List<SignedRange> ranges, HostKey key) {
            boolean[] authentic = new boolean[ranges.size()];
            for (int i = authentic.length - 1; i >= 0; i--) {
                boolean vouched = authentic.length > EACH
                        && i + 1 < authentic.length
                        && authentic[i + 1]
                        && isNext(ranges.get(i), ranges.get(i + 1));
                authentic[i] = vouched
                        || key.signed(
                                ranges.get(i).getPayload().getBytes(StandardCharsets.UTF_8),
                                ranges.get(i).getSignature());
            }
            return authentic;
        }

        private static boolean isNext(SignedRange range, SignedRange next) {
            return next.getSequence() == range.getSequence() + 1
                    && next.getPrevious().equals(range.getPayloadSha256());
        }

        /** Accepts the next record; adds it to {@code rest} while records before it are missing. */
        private void continueChain(SignedRange range, Registered key, List<SignedRange> rest) throws Exception {
            ChainHead head = ChainHead.of(heads.get(range.getKey()));
            if (head != null && range.getSequence() <= head.sequence()) {
                repeat(range, head);
                return;
            }
            String broken = broken(range, head, key);
            boolean missing = head == null ? !broken.isEmpty() : range.getSequence() > head.sequence() + 1;
            if (missing && isPatient(range)) {
                rest.add(range);
                return;
            }
            accept(range, broken);
        }

        /** A known payload may arrive again. Another payload with its sequence number is a fork. */
        private void repeat(SignedRange range, ChainHead head) throws Exception {
            String known = payloads.get(range.getKey(), range.getSequence());
            if (known == null && range.getSequence() > head.sequence() - PayloadHashes.REMEMBERED) {
                remember(range);
                pass(range, "");
            } else if (known != null && !known.equals(range.getPayloadSha256())) {
                pass(range, "the sequence number " + range.getSequence() + " has another payload as well");
            }
        }

        private String broken(SignedRange range, ChainHead head, Registered key) {
            if (head == null) {
                boolean first = range.getSequence() == 1
                        ? range.getPrevious().isEmpty()
                        : key.replaces().isEmpty();
                return first ? "" : "no rotation from the key " + key.replaces() + " precedes it";
            }
            if (range.getSequence() > head.sequence() + 1) {
                return "the records " + (head.sequence() + 1) + " to " + (range.getSequence() - 1) + " are missing";
            }
            return range.getPrevious().equals(head.payloadSha256()) ? "" : "the payload before it was another one";
        }

        private void accept(SignedRange range, String broken) throws Exception {
            heads.put(range.getKey(), new ChainHead(range.getSequence(), range.getPayloadSha256()).text());
            remember(range);
            pass(range, broken);
        }

        private void remember(SignedRange range) throws Exception {
            payloads.put(range.getKey(), range.getSequence(), range.getPayloadSha256());
        }

        private void pass(SignedRange range, String broken) throws Exception {
            if (range.getInstance().isEmpty()) {
                rotate(range, broken);
                return;
            }
            range.setStatus(broken.isEmpty() ? "" : "broken_chain");
            range.setReason(broken);
            out.collect(range);
        }

        private void rotate(SignedRange range, String broken) throws Exception {
            HostKey next = SignedRangeMessage.newKey(range);
            heads.put(next.id(), new ChainHead(range.getSequence(), range.getPayloadSha256()).text());
            boolean whole = broken.isEmpty();
            result(range, whole ? "verified" : "broken_chain", whole ? "rotation to the key " + next.id() : broken);
        }

        private void result(SignedRange range, String status, String reason) {
            range.setStatus(status);
            range.setReason(reason);
            range.setVerifiedAt(now);
            context.output(RESULTS, range);
        }
    }

    /** The newest record of a key's chain. */
    private record ChainHead(long sequence, String payloadSha256) {

        /** Returns null if nothing is stored. */
        static ChainHead of(String text) {
            if (text == null) {
                return null;
            }
            int space = text.indexOf(' ');
            return new ChainHead(Long.parseLong(text.substring(0, space)), text.substring(space + 1));
        }

        String text() {
            return sequence + " " + payloadSha256;
        }
    }
}
