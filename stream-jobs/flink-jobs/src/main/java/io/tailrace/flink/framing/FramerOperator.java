package io.tailrace.flink.framing;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.SignedRange;
import io.tailrace.flink.ingest.LogInput;
import io.tailrace.framing.LogFormats;
import io.tailrace.reassembly.FramedEntry;
import io.tailrace.reassembly.LogId;
import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.ReassemblyOutput;
import io.tailrace.reassembly.assignment.LogReassembler;
import io.tailrace.reassembly.state.StateStore;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.formats.avro.typeutils.AvroTypeInfo;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.InternalTimerService;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.Triggerable;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;
import org.apache.flink.util.function.SerializableSupplier;

/**
 * Reassembles the lines of each log and splits them into entries. Its input, line blocks and census records in the
 * order in which a log's collector sent them, and signed ranges, is keyed by {@link LogId#toKey}.
 *
 * <p>The reassembler of each active log is on the heap; changes are written to keyed state before each checkpoint.
 * State is therefore read once per log and start, works the same on every state backend, and a line costs no state
 * access.
 *
 * <p>Exactly once: entries, postings and dead letters are emitted before the checkpoint barrier of the state that
 * follows from them.
 */
public final class FramerOperator extends AbstractStreamOperator<EntryBlock>
        implements OneInputStreamOperator<LogInput, EntryBlock>, Triggerable<String, VoidNamespace> {

    /** The ledger's postings of the framer. */
    public static final OutputTag<LedgerEntry> POSTINGS =
            new OutputTag<>("ledger", new AvroTypeInfo<>(LedgerEntry.class));

    /** Bytes that became no entry. */
    public static final OutputTag<DeadLetter> DEAD_LETTERS =
            new OutputTag<>("dead-letters", new AvroTypeInfo<>(DeadLetter.class));

    /** Signed ranges, compared with the bytes that arrived. */
    public static final OutputTag<SignedRange> SIGNED_RANGES =
            new OutputTag<>("signed-ranges", new AvroTypeInfo<>(SignedRange.class));

    private static final long serialVersionUID = 1L;
    /** Maximum number of idle logs on the heap. */
    private static final int IDLE_LOGS = 1024;

    private final ReassemblyLimits limits;
    private final SerializableSupplier<LogFormats> formatsSource;
    private final String version;

    private transient LogFormats formats;
    private transient MapState<Long, byte[]> state;
    private transient ListState<Integer> stateVersion;
    private transient int restoredVersion;
    private transient InternalTimerService<VoidNamespace> timers;
    private transient LinkedHashMap<String, Live> logs;
    private transient EntryBlockWriter entries;
    private transient ReassemblyOutput downstream;

    /** An active log. */
    private static final class Live {
        private final LogReassembler reassembler;
        private long timerAt = Long.MAX_VALUE;

        private Live(LogReassembler reassembler) {
            this.reassembler = reassembler;
        }
    }

    /**
     * @param limits bounds for each log
     * @param formatsSource creates the formats in each subtask
     * @param version version of Tailrace, written into dead letters
     */
    public FramerOperator(ReassemblyLimits limits, SerializableSupplier<LogFormats> formatsSource, String version) {
        this.limits = limits;
        this.version = version;
        this.formatsSource = formatsSource;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        state = context.getKeyedStateStore().getMapState(logDescriptor());
        stateVersion = context.getOperatorStateStore()
                .getUnionListState(new ListStateDescriptor<>("version", IntSerializer.INSTANCE));
        restoredVersion = context.isRestored() ? foundVersion() : LogReassembler.STATE_VERSION;
    }

    private static MapStateDescriptor<Long, byte[]> logDescriptor() {
        return new MapStateDescriptor<>("log", LongSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE);
    }

    /** Each subtask sees the versions of all others; they are equal, because a checkpoint has one version. */
    private int foundVersion() throws Exception {
        Iterator<Integer> found = stateVersion.get().iterator();
        if (!found.hasNext()) {
            throw new IncompatibleStateException("no version");
        }
        int version = found.next();
        if (version < LogReassembler.OLDEST_STATE_VERSION || version > LogReassembler.STATE_VERSION) {
            throw new IncompatibleStateException("version " + version);
        }
        return version;
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        stateVersion.update(List.of(LogReassembler.STATE_VERSION));
    }

    @Override
    public void open() throws Exception {
        super.open();
        formats = formatsSource.get();
        logs = new LinkedHashMap<>(16, 0.75f, true);
        entries = new EntryBlockWriter(block -> output.collect(new StreamRecord<>(block)));
        downstream = new Downstream();
        timers = getInternalTimerService("tick", VoidNamespaceSerializer.INSTANCE, this);
        if (restoredVersion < LogReassembler.STATE_VERSION) {
            migrateLogs();
        }
    }

    /** All logs at once, before the first checkpoint: it has one version for all of them. */
    private void migrateLogs() throws Exception {
        this.<String>getKeyedStateBackend()
                .applyToAllKeys(
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE,
                        logDescriptor(),
                        (key, log) -> new LogReassembler(LogId.fromKey(key), formats, limits, version, downstream)
                                .migrate(new KeyedStore(log), restoredVersion));
    }

    @Override
    public void processElement(StreamRecord<LogInput> record) {
        LogInput input = record.getValue();
        Live live = live(input.key());
        if (input.lines() != null) {
            live.reassembler.block(input.lines(), now());
        } else if (input.census() != null) {
            live.reassembler.census(input.census(), now());
        } else {
            live.reassembler.signedRange(input.signed(), now());
        }
        entries.flush();
        schedule(live);
    }

    @Override
    public void onProcessingTime(InternalTimer<String, VoidNamespace> timer) {
        Live live = live(timer.getKey());
        live.timerAt = Long.MAX_VALUE;
        live.reassembler.tick(now());
        entries.flush();
        schedule(live);
    }

    @Override
    public void onEventTime(InternalTimer<String, VoidNamespace> timer) {
        throw new IllegalStateException("the framer has no event time timers");
    }

    private long now() {
        return getProcessingTimeService().getCurrentProcessingTime();
    }

    /** Returns the reassembler of the current key. */
    private Live live(String key) {
        Live live = logs.get(key);
        if (live == null) {
            live = new Live(LogReassembler.restore(
                    LogId.fromKey(key), formats, limits, version, downstream, new KeyedStore(state)));
            logs.put(key, live);
        }
        return live;
    }

    /** Sets a timer for the current key, unless an earlier one is set. */
    private void schedule(Live live) {
        long next = live.reassembler.nextTick(now());
        if (next < live.timerAt) {
            live.timerAt = next;
            timers.registerProcessingTimeTimer(VoidNamespace.INSTANCE, next);
        }
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        super.prepareSnapshotPreBarrier(checkpointId);
        long now = now();
        for (Map.Entry<String, Live> log : logs.entrySet()) {
            LogReassembler reassembler = log.getValue().reassembler;
            if (reassembler.changed()) {
                reassembler.flush(now);
                setCurrentKey(log.getKey());
                reassembler.save(new KeyedStore(state));
            }
        }
        entries.flush();
        forgetIdle();
    }

    /** Directly after a save, the state contains everything on the heap. */
    private void forgetIdle() {
        Iterator<Live> leastRecent = logs.values().iterator();
        for (int excess = logs.size() - IDLE_LOGS; excess > 0; excess--) {
            leastRecent.next();
            leastRecent.remove();
        }
    }

    /** State of the current key. */
    private record KeyedStore(MapState<Long, byte[]> state) implements StateStore {

        @Override
        public byte[] get(long id) {
            try {
                return state.get(id);
            } catch (Exception e) {
                throw new IllegalStateException("cannot read the state of a log", e);
            }
        }

        @Override
        public void put(long id, byte[] bytes) {
            try {
                state.put(id, bytes);
            } catch (Exception e) {
                throw new IllegalStateException("cannot write the state of a log", e);
            }
        }

        @Override
        public void remove(long id) {
            try {
                state.remove(id);
            } catch (Exception e) {
                throw new IllegalStateException("cannot remove state of a log", e);
            }
        }
    }

    private final class Downstream implements ReassemblyOutput {

        @Override
        public void entry(FramedEntry entry) {
            entries.add(entry);
        }

        @Override
        public void posting(LedgerEntry posting) {
            output.collect(POSTINGS, new StreamRecord<>(posting));
        }

        @Override
        public void deadLetter(DeadLetter deadLetter) {
            output.collect(DEAD_LETTERS, new StreamRecord<>(deadLetter));
        }

        @Override
        public void signedRange(SignedRange range) {
            output.collect(SIGNED_RANGES, new StreamRecord<>(range));
        }
    }
}
