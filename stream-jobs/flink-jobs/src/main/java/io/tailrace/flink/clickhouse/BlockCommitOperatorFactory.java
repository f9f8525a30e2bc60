package io.tailrace.flink.clickhouse;

import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

/** Creates {@link BlockCommitOperator}s, which need their task's mailbox. */
final class BlockCommitOperatorFactory extends AbstractStreamOperatorFactory<Void>
        implements OneInputStreamOperatorFactory<RowBlock, Void> {

    private static final long serialVersionUID = 1;

    private final CommitterConfig settings;

    BlockCommitOperatorFactory(CommitterConfig settings) {
        this.settings = settings;
    }

    @Override
    @SuppressWarnings("unchecked") // the type parameter is the caller's, as in every factory of Flink
    public <T extends StreamOperator<Void>> T createStreamOperator(StreamOperatorParameters<Void> parameters) {
        return (T) new BlockCommitOperator(settings, parameters);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return BlockCommitOperator.class;
    }
}
