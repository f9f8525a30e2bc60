package io.tailrace.flink.idle;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Another source, which reports a backlog while all such sources of the job are idle. Its state is that of the other
 * source. The first record after a pause is in a checkpoint after the usual interval.
 *
 * @param <T> records
 * @param <S> splits
 * @param <E> state of the enumerator
 */
public final class IdleAwareSource<T, S extends SourceSplit, E> implements Source<T, S, E>, ResultTypeQueryable<T> {

    private static final long serialVersionUID = 1;

    private final Source<T, S, E> source;
    private final TypeInformation<T> type;
    private final PeriodicRecords<T> periodic;

    private IdleAwareSource(Source<T, S, E> source, TypeInformation<T> type, PeriodicRecords<T> periodic) {
        this.source = source;
        this.type = type;
        this.periodic = periodic;
    }

    /** Returns a source that reads what the given one reads. */
    public static <T, S extends SourceSplit, E, K extends Source<T, S, E> & ResultTypeQueryable<T>>
            IdleAwareSource<T, S, E> of(K source) {
        return of(source, record -> false);
    }

    /**
     * Returns a source that reads what the given one reads.
     *
     * @param periodic records that do not end a pause
     */
    public static <T, S extends SourceSplit, E, K extends Source<T, S, E> & ResultTypeQueryable<T>>
            IdleAwareSource<T, S, E> of(K source, PeriodicRecords<T> periodic) {
        return new IdleAwareSource<>(source, source.getProducedType(), periodic);
    }

    @Override
    public SourceReader<T, S> createReader(SourceReaderContext context) throws Exception {
        return new IdleAwareReader<>(source.createReader(context), context, periodic);
    }

    @Override
    public SplitEnumerator<S, E> createEnumerator(SplitEnumeratorContext<S> context) throws Exception {
        return aware(source.createEnumerator(context), context);
    }

    @Override
    public SplitEnumerator<S, E> restoreEnumerator(SplitEnumeratorContext<S> context, E state) throws Exception {
        return aware(source.restoreEnumerator(context, state), context);
    }

    private SplitEnumerator<S, E> aware(SplitEnumerator<S, E> enumerator, SplitEnumeratorContext<S> context) {
        return new IdleAwareEnumerator<>(enumerator, context, IdleSources.OF_THIS_PROCESS);
    }

    @Override
    public Boundedness getBoundedness() {
        return source.getBoundedness();
    }

    @Override
    public SimpleVersionedSerializer<S> getSplitSerializer() {
        return source.getSplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<E> getEnumeratorCheckpointSerializer() {
        return source.getEnumeratorCheckpointSerializer();
    }

    @Override
    public TypeInformation<T> getProducedType() {
        return type;
    }
}
