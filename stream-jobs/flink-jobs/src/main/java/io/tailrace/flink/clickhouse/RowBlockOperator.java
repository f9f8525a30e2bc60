package io.tailrace.flink.clickhouse;

import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecord;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Encodes records of one type as rows of one table, in blocks of one partition day.
 *
 * <p>Holds rows only between two checkpoint barriers: it emits everything before each barrier. Its state is the id of
 * the checkpoint, because Flink passes a restored id only to tasks with state, and {@code after_checkpoint} must be
 * right in every row.
 *
 * @param <T> the record that is one row
 */
public final class RowBlockOperator<T extends SpecificRecord> extends AbstractStreamOperator<RowBlock>
        implements OneInputStreamOperator<T, RowBlock> {

    private static final long serialVersionUID = 1;
    private static final int BLOCK_BYTES = 256 << 10;

    /** Maximum number of days with open blocks. An old log of an idle server may contain more between two barriers. */
    private static final int MAX_DAYS = 64;

    private static final ListStateDescriptor<Long> LAST_CHECKPOINT =
            new ListStateDescriptor<>("last-checkpoint", LongSerializer.INSTANCE);

    private final String table;
    private final Class<T> recordClass;
    /** Null: names are stored as they are. */
    private final PseudonymKeys pseudonyms;

    private transient ListState<Long> state;
    private transient RowBinaryEncoder encoder;
    private transient String layout;
    private transient Map<Integer, DayRows> days;
    private transient DayRows current;
    private transient long lastCheckpoint;
    private transient Optional<SubjectNames> names;

    private static final class DayRows {
        final int day;
        final RowBinaryBuffer buffer = new RowBinaryBuffer(4 << 10);
        int rows;

        DayRows(int day) {
            this.day = day;
        }
    }

    /** @param table name with its database, such as {@code tailrace.ledger} */
    public RowBlockOperator(String table, Class<T> recordClass) {
        this(table, recordClass, Optional.empty());
    }

    /**
     * @param table name with its database, such as {@code tailrace.ledger}
     * @param pseudonyms keys of the pseudonyms that replace names; empty: names are stored as they are
     */
    public RowBlockOperator(String table, Class<T> recordClass, Optional<PseudonymKeys> pseudonyms) {
        this.table = table;
        this.recordClass = recordClass;
        this.pseudonyms = pseudonyms.orElse(null);
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        state = context.getOperatorStateStore().getUnionListState(LAST_CHECKPOINT);
        for (long checkpoint : state.get()) {
            lastCheckpoint = Math.max(lastCheckpoint, checkpoint);
        }
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        state.update(List.of(context.getCheckpointId()));
    }

    @Override
    public void open() throws Exception {
        super.open();
        names = SubjectNames.of(table, Optional.ofNullable(pseudonyms), Clock.systemUTC());
        encoder =
                new RowBinaryEncoder(table, SpecificData.get().getSchema(recordClass), SubjectNames.replacement(names));
        layout = encoder.layout().text();
        days = new HashMap<>();
        current = new DayRows(Integer.MIN_VALUE);
    }

    @Override
    public void processElement(StreamRecord<T> element) {
        T row = element.getValue();
        int day = encoder.day(row);
        if (day != current.day) {
            changeDay(day);
        }
        encoder.encode(row, lastCheckpoint, current.buffer);
        current.rows++;
        if (current.buffer.size() >= BLOCK_BYTES) {
            emit(current);
        }
    }

    private void changeDay(int day) {
        if (days.size() >= MAX_DAYS && !days.containsKey(day)) {
            emitAll();
        }
        current = days.computeIfAbsent(day, DayRows::new);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) {
        emitAll();
        lastCheckpoint = checkpointId;
    }

    @Override
    public void finish() throws Exception {
        emitAll();
        super.finish();
    }

    /** Names go to the vault with the rows of the same checkpoint. */
    private void emitAll() {
        names.flatMap(SubjectNames::takeArrivals).ifPresent(block -> output.collect(new StreamRecord<>(block)));
        days.values().forEach(this::emit);
        days.clear();
        current = new DayRows(Integer.MIN_VALUE);
    }

    private void emit(DayRows block) {
        if (block.rows > 0) {
            byte[] rows = block.buffer.toByteArray();
            output.collect(new StreamRecord<>(new RowBlock(layout, block.day, block.rows, rows)));
            block.buffer.clear();
            block.rows = 0;
        }
    }
}
